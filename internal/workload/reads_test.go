// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/test/random"
)

// The texts of two workloads are equal if and only if templates read the same values of both.
func TestAppendReads_DiffersIfTemplatesReadDifference(t *testing.T) {
	var views []View
	for _, change := range []func(*View){
		func(*View) {},
		func(v *View) { v.Name = "card" },
		func(v *View) { v.Kind, v.Namespace = "StatefulSet", "shops" },
		func(v *View) { v.Labels = nil },
		func(v *View) { v.Labels = map[string]string{"team": ""} },
		func(v *View) { v.Labels = map[string]string{"team": "shop", "tier": "web"} },
		func(v *View) { v.Labels = map[string]string{"tier": "shop"} },
		func(v *View) { v.Annotations = map[string]string{"team": "shop"} },
		func(v *View) { v.Containers = nil },
		func(v *View) { v.QoSClass = corev1.PodQOSGuaranteed },
		func(v *View) {
			v.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64(7))}
		},
		func(v *View) {
			v.Containers[0].SecurityContext = &corev1.SecurityContext{RunAsGroup: new(int64(7))}
		},
		func(v *View) { v.Containers[0].Name = "app" },
		func(v *View) { v.Containers[0].Init = true },
		func(v *View) { v.Containers = append(v.Containers, Container{Name: "b"}) },
		func(v *View) {
			v.Containers = append(v.Containers, Container{Name: "vector"})
			v.Owned = map[string]OwnedFields{"vectorsidecar/logs": {Containers: []string{"vector"}}}
		},
		func(v *View) { v.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 80}} },
	} {
		view := View{ObjectView: ObjectView{Labels: map[string]string{"team": "shop"}}, PodView: PodView{Containers: []Container{{Name: "cart"}}}}
		view.Kind, view.Namespace, view.Name = "Deployment", "shop", "cart"
		change(&view)
		views = append(views, view)
	}
	paths := [][]string{nil, {"kind"}, {"name"}, {"namespace"}, {"labels"}, {"annotations"}, {"containers"}, {"qosClass"}, {"users"}, {"other"}, {"labels", "team"}, {"labels", "none"}, {"annotations", "team"}}
	var all []tree.Read
	for _, path := range paths {
		for _, seen := range []tree.Aspect{tree.Shape, tree.Length, tree.WholeValue} {
			all = append(all, tree.Read{Path: path, Aspect: seen})
		}
	}
	require.Equal(t, valueKeys(), ValueKeysFor(all))
	for _, read := range all {
		for i := range views {
			for j := range views {
				a, b := views[i].AppendReads(nil, []tree.Read{read}), views[j].AppendReads(nil, []tree.Read{read})
				require.Equal(t, random.FormatRead(views[i].Values(), read) == random.FormatRead(views[j].Values(), read), slices.Equal(a, b), "%v of %d and %d", read, i, j)
			}
		}
		for _, other := range all {
			a, b := views[0].AppendReads(nil, []tree.Read{read}), views[0].AppendReads(nil, []tree.Read{other})
			require.Equal(t, read.Equal(other), slices.Equal(a, b), "%v and %v must not be taken for each other", read, other)
		}
	}
}

// The result has the top-level keys of the paths that templates have read.
func TestValueKeysFor_ReturnsKeysThatTemplatesRead(t *testing.T) {
	reads := []tree.Read{{Aspect: tree.Length}, {Path: []string{"labels", "team"}}, {Path: []string{"other"}}, {Path: []string{"kind"}}}
	require.Equal(t, []string{"kind", "labels"}, ValueKeysFor(reads))
	require.Empty(t, ValueKeysFor([]tree.Read{{Aspect: tree.Length}}), "there are the same keys in each")
	require.Equal(t, valueKeys(), ValueKeysFor([]tree.Read{{Aspect: tree.WholeValue}}))
}
