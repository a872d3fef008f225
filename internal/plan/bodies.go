// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Bodies returns what is applied, one after the other, for a plan that writes;
// without the name of the workload. To apply nothing gives up everything that the
// manager owns alone; a plan that disowns applies not even that.
//
// Two bodies order init containers: naming the workload's own puts ours before
// them and makes us their owner too; applying without the names gives that up
// again, and ours stay first (fact 16 of server-side apply).
func (p *Plan) Bodies() []map[string]any {
	switch {
	case p.Disown:
		return nil
	case p.Action == Remove:
		return []map[string]any{{}}
	case len(p.Behind) > 0:
		return []map[string]any{ordered(p.Apply, p.Behind), p.Apply}
	default:
		return []map[string]any{p.Apply}
	}
}

// ordered returns the body with the names of other init containers behind the
// native sidecars and before the rest of ours.
func ordered(body map[string]any, behind []string) map[string]any {
	body = runtime.DeepCopyJSON(body)
	pod := tree.At(body, tree.Pod...)
	ours := tree.List(pod["initContainers"])
	isNative := func(item any) bool {
		return tree.Map(item)["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways)
	}
	var names []any
	for _, name := range behind {
		names = append(names, map[string]any{"name": name})
	}
	native := slices.DeleteFunc(slices.Clone(ours), func(item any) bool { return !isNative(item) })
	others := slices.DeleteFunc(slices.Clone(ours), isNative)
	pod["initContainers"] = slices.Concat(native, names, others)
	return body
}
