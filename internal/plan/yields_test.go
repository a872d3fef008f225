// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Annotations that yield are left to whoever has them, and what is to be added there is said.
func TestAnAnnotationThatYieldsIsNoConflict(t *testing.T) {
	const list, flag = "vector.dev/exclude-containers", "fluentbit.io/exclude-vector"
	another := meta.Manager("audit")
	for name, test := range map[string]struct {
		view   *workload.View
		leaves []string
		says   string
	}{
		"nobody has them":       {view: application(), leaves: []string{list, flag}},
		"another key":           {view: with(application(), func(v *workload.View) { v.PodAnnotations = []string{"vector.dev/exclude"} }), leaves: []string{list, flag}},
		"ours, from before":     {view: with(current(), owns(mine, list, "proxy")), leaves: []string{list, flag}},
		"the owner's":           {view: with(application(), owns("", list, "proxy")), leaves: []string{flag}, says: `add "vector" to its value in the workload's own pod template`},
		"the owner's, complete": {view: with(application(), owns("", list, "proxy, vector")), leaves: []string{flag}},
		"another VectorSidecar's": {
			view: with(application(), owns(another, list, "audit")), leaves: []string{flag},
			says: `add "vector" to its value in sidecar.podAnnotations of VectorSidecar audit`,
		},
		"a domain whose values are not known": {view: with(application(), owns("", flag, "")), leaves: []string{list}, says: `add "true"`},
	} {
		t.Run(name, func(t *testing.T) {
			desired := telling(list, flag)
			p := For(mine, desired, Policy{}, test.view)
			require.Contains(t, []Action{Inject, Update}, p.Action, p.Message)
			annotations := tree.At(p.Apply, "spec", "template", "metadata", "annotations")
			require.Len(t, annotations, len(test.leaves)+1, "beside the list of parts")
			for _, key := range test.leaves {
				require.Contains(t, annotations, key)
				require.Contains(t, p.Desired.overlay.Template.Annotations[meta.AnnotationParts(mine)], key)
			}
			if said := desired.Yielded(mine, test.view); test.says == "" {
				require.Empty(t, said)
			} else {
				require.Len(t, said, 1)
				require.Contains(t, said[0], test.says)
			}

			expected := desired.Expect(mine, test.view)
			require.Subset(t, expected.Owned[mine].PodAnnotations, test.leaves)
			require.Len(t, expected.Owned[mine].PodAnnotations, len(test.leaves)+1)
		})
	}
}

// owns has a manager of ours, or with "" the workload's owner, set a pod annotation.
func owns(manager, key, text string) func(*workload.View) {
	return func(v *workload.View) {
		v.PodAnnotations, v.PodTexts = append(v.PodAnnotations, key), map[string]string{key: text}
		if manager == "" {
			return
		}
		if v.Owned == nil {
			v.Owned = map[string]workload.Owned{}
		}
		owned := v.Owned[manager]
		owned.PodAnnotations, owned.InjectedHash = append(owned.PodAnnotations, key), "before"
		v.Owned[manager] = owned
	}
}

// telling is the sidecar with two annotations that yield.
func telling(list, flag string) *Desired {
	of := *sidecar().overlay
	parts := meta.Parts{Manager: mine, Annotations: []string{flag, list}}
	of.Yields = []string{flag, list}
	of.Template.Annotations = map[string]string{list: "vector", flag: "true", meta.AnnotationParts(mine): parts.String()}
	of.Body = map[string]any{"spec": of.Body["spec"], "metadata": map[string]any{"annotations": map[string]any{
		list: "vector", flag: "true", meta.AnnotationParts(mine): parts.String(),
	}}}
	return NewDesired(&of, "logs", "vector", "config-1", nil)
}
