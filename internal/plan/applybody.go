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

// Body returns the server-side apply body of a plan that writes, without the name of the workload. It returns
// nil if the plan does not apply. An empty body releases every field that only the manager owns.
//
// If the plan has no patch, the body also orders the init containers: it lists the workload's other init
// containers by name, after the sidecar's containers. The manager then owns those names until the managed
// fields are trimmed, and the order stays
// (test/envtest.TestApply_OrdersInitContainersByAppliedList).
func (p *Plan) Body() map[string]any {
	switch {
	case p.ReleaseOnly:
		return nil
	case p.Action == Remove:
		return map[string]any{}
	case p.Patch == nil && len(p.InitAfter) > 0:
		return p.orderedBody()
	default:
		return p.Apply
	}
}

// orderedBody returns the apply body with the names of the other init containers around the native sidecars. The
// remaining init containers of the overlay are last.
func (p *Plan) orderedBody() map[string]any {
	body := runtime.DeepCopyJSON(p.Apply)
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
	pod["initContainers"] = slices.Concat(named(p.InitBefore), native, named(p.InitAfter), nonNative)
	return body
}

// Trim returns the part of a managedFields entry to keep after the plan is applied, or nil to remove the entry.
// It also returns whether that is less than the whole entry. Only entries of the manager are trimmed.
func (p *Plan) Trim(entry *metav1.ManagedFieldsEntry) (remaining *metav1.FieldsV1, isLess bool) {
	switch {
	case entry.Subresource != "", entry.Manager != p.Manager:
		return entry.FieldsV1, false
	case p.ReleaseOnly && entry.Manager == p.Manager:
		return nil, true
	}
	return workload.Trim(entry)
}
