// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// VectorSidecars of several namespaces have the same name and selector. The commands explain, plan and tree name the
// same one for each workload.
func TestExplainWorkload_NamesVectorSidecarsAsPlanAndTree(t *testing.T) {
	c := &cluster{}
	wide := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs"}}
	wide.Spec.NamespaceSelector.MatchLabels = map[string]string{"tier": "gold"}
	wide.Spec.Selector.MatchLabels = map[string]string{"logs": "vector"}
	wide.Spec.Sidecar = &v1alpha1.SidecarSpec{Name: "platform"}
	c.objects = append(c.objects, wide)
	wanted := map[string][]string{} // by namespace
	for i := range 12 {
		namespace := fmt.Sprintf("team-%02d", i)
		object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
		c.objects = append(c.objects, objects.NewDeployment("web", namespace).Labeled("logs", "vector").Build())
		wanted[namespace] = []string{}
		if i%3 > 0 {
			c.objects = append(c.objects, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build())
			wanted[namespace] = append(wanted[namespace], "logs")
		}
		if i%2 > 0 {
			object.Labels = map[string]string{"tier": "gold"}
			wanted[namespace] = append(wanted[namespace], "clustervectorsidecar/logs")
		}
		c.objects = append(c.objects, object)
	}
	planned, inTree := map[string][]string{}, map[string][]string{}
	out, notes, code := c.runOutside(t, "plan", "-A", "-o", "json", "--kube-version", "v1.36.0")
	require.Zero(t, code, notes)
	var outlook planReport
	require.NoError(t, json.Unmarshal([]byte(out), &outlook))
	for _, step := range outlook.Steps {
		planned[step.Namespace] = append(planned[step.Namespace], step.VectorSidecar)
	}
	for namespace, want := range wanted {
		out, notes, code := c.runOutside(t, "explain", "web", "-n", namespace, "-o", "json", "--kube-version", "v1.36.0")
		require.Zero(t, code, notes)
		var explained explanation
		require.NoError(t, json.Unmarshal([]byte(out), &explained))
		names := []string{}
		for _, one := range explained.VectorSidecars {
			require.True(t, one.Matches, "%s: %s", namespace, one.Name)
			names = append(names, one.Name)
		}
		require.ElementsMatch(t, want, names, "explain in %s", namespace)
		require.ElementsMatch(t, want, planned[namespace], "plan in %s", namespace)

		out, notes, code = c.runOutside(t, "tree", "-n", namespace, "-o", "json", "--kube-version", "v1.36.0")
		require.Zero(t, code, notes)
		var roots []*node
		require.NoError(t, json.Unmarshal([]byte(out), &roots))
		collect(roots, "", func(sidecar string) { inTree[namespace] = append(inTree[namespace], sidecar) })
		for _, name := range want {
			require.True(t, slices.Contains(inTree[namespace], namespace+"/"+name), "tree in %s", namespace)
		}
		require.Len(t, inTree[namespace], len(want), "tree in %s", namespace)
	}
}

// collect calls found with the VectorSidecar of each workload of a tree.
func collect(nodes []*node, sidecar string, found func(sidecar string)) {
	for _, one := range nodes {
		if one.Kind == "VectorSidecar" {
			sidecar = one.Name
		}
		if one.Kind == "Deployment" {
			found(sidecar)
		}
		collect(one.Children, sidecar, found)
	}
}

// The output names a VectorSidecar of another namespace only in a hint, and only if no VectorSidecar of the workload's
// own namespace selects it.
func TestExplainWorkload_HidesOtherNamespaces(t *testing.T) {
	deployment := objects.NewDeployment("web", "shop").Labeled("logs", "vector").Build()
	other := objects.NewVectorSidecar("logs", "other").Selecting("logs", "vector").Build()
	own := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Build()
	for name, test := range map[string]struct {
		objects []client.Object
		has     string
		isNamed bool
	}{
		"one of its own": {[]client.Object{deployment, other, own}, "VectorSidecar logs", false},
		"none":           {[]client.Object{deployment, other}, "VectorSidecar other/logs matches the workload, but", true},
	} {
		t.Run(name, func(t *testing.T) {
			out, notes, code := (&cluster{objects: test.objects}).run(t, "explain", "deployment/web")
			require.Zero(t, code, notes)
			require.Contains(t, out, test.has)
			require.NotContains(t, out, "\nVectorSidecar other/logs")
			if !test.isNamed {
				require.NotContains(t, out, "other")
			}
		})
	}
}
