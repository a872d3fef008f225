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

// Body returns what is applied for a plan that writes, without the name of the
// workload; nil for nothing. To apply an empty one gives up everything that the manager
// owns alone.
//
// Where no patch does it, the body orders init containers: naming the workload's own
// puts ours before them and makes us an owner of the names too, until the record is
// trimmed (fact 16 of server-side apply).
func (p *Plan) Body() map[string]any {
	switch {
	case p.ReleaseOnly:
		return nil
	case p.Action == Remove:
		return map[string]any{}
	case p.Patch == nil && len(p.InitAfter) > 0:
		return p.ordered()
	default:
		return p.Apply
	}
}

// ordered returns what is applied with the names of the other init containers around
// the native sidecars, and the rest of ours last.
func (p *Plan) ordered() map[string]any {
	body := runtime.DeepCopyJSON(p.Apply)
	pod := tree.At(body, tree.Pod...)
	ours := tree.List(pod["initContainers"])
	isNative := func(item any) bool {
		return tree.Map(item)["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways)
	}
	named := func(names []string) (items []any) {
		for _, name := range names {
			items = append(items, map[string]any{"name": name})
		}
		return items
	}
	native := slices.DeleteFunc(slices.Clone(ours), func(item any) bool { return !isNative(item) })
	others := slices.DeleteFunc(slices.Clone(ours), isNative)
	pod["initContainers"] = slices.Concat(named(p.InitBefore), native, named(p.InitAfter), others)
	return body
}

// Trim returns what is to stay of an entry of managed fields, nil for nothing, once the
// plan is carried out, and whether that is less than the entry says. Beside the
// manager's own entries, what earlier releases left of patches of any VectorSidecar
// goes with whatever is written.
func (p *Plan) Trim(entry *metav1.ManagedFieldsEntry) (kept *metav1.FieldsV1, isLess bool) {
	switch {
	case entry.Subresource != "", entry.Manager != p.Manager && !workload.IsHusk(entry):
		return entry.FieldsV1, false
	case p.ReleaseOnly && entry.Manager == p.Manager:
		return nil, true
	}
	return workload.Trim(entry)
}
