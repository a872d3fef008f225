// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Body returns the body of the plan's server-side apply, without the name of the workload. It returns nil if the plan
// sends no apply. An empty body releases all fields of the manager; the API server removes the fields that have no
// other owner.
//
// If the plan has no patch, the body also sets the order of init containers: it lists the workload's other init
// containers by name. The manager then owns these names until the managed fields are trimmed. The order stays
// afterwards (test/envtest.TestApply_OrdersInitContainersByAppliedList).
func (p *Plan) Body() map[string]any {
	switch record := p.Record(); {
	case record != nil:
		return record
	case p.Write.ReleaseOnly:
		return nil
	case p.HasChange(Remove):
		return map[string]any{}
	case p.Write.Patch == nil && len(p.Write.InitAfter) > 0:
		return p.Write.orderedBody()
	default:
		return p.Write.Apply
	}
}

// orderedBody returns the apply body with all init containers of the workload in their final order: the names in
// InitBefore, the native sidecars, the names in InitAfter, and the overlay's other init containers.
func (w *Write) orderedBody() map[string]any {
	body := runtime.DeepCopyJSON(w.Apply)
	pod := tree.MapAt(body, tree.Pod...)
	sidecarContainers := tree.List(pod["initContainers"])
	isNative := func(item any) bool {
		return tree.Map(item)["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways)
	}
	named := func(names []string) (items []any) {
		for _, name := range names {
			items = append(items, map[string]any{"name": name})
		}
		return items
	}
	native := slices.DeleteFunc(slices.Clone(sidecarContainers), func(item any) bool { return !isNative(item) })
	nonNative := slices.DeleteFunc(slices.Clone(sidecarContainers), isNative)
	pod["initContainers"] = slices.Concat(named(w.InitBefore), native, named(w.InitAfter), nonNative)
	return body
}

// Trim returns the fields of a managedFields entry that must stay after the plan is applied, or nil if the whole entry
// must be removed. isLess reports whether Trim has removed fields. An entry of another manager or of a subresource
// stays unchanged.
func (p *Plan) Trim(entry *metav1.ManagedFieldsEntry) (remaining *metav1.FieldsV1, isLess bool) {
	switch {
	case entry.Subresource != "", entry.Manager != p.Manager:
		return entry.FieldsV1, false
	case p.Write.ReleaseOnly && entry.Manager == p.Manager:
		return nil, true
	}
	return workload.TrimEntry(entry)
}
