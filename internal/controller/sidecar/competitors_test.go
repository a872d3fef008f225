// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func newWatches(api *memoryAPI) *watches {
	return &watches{sidecars: api.snapshots.sidecars, workloads: api.snapshots.workloads}
}

// sidecarFrom returns a VectorSidecar that selects workloads with labels, created in a second of the test.
func sidecarFrom(second int, name string, selector map[string]string) *v1alpha1.VectorSidecar {
	sidecar := objects.NewVectorSidecar(name, "shop").Build()
	sidecar.UID, sidecar.CreationTimestamp = types.UID(name), metav1.Unix(int64(second), 0)
	sidecar.Spec.Selector.MatchLabels = selector
	return sidecar
}

func labeledDeployment(name string, labels map[string]string) client.Object {
	deployment := objects.NewDeployment(name, "shop").Build()
	deployment.UID, deployment.Labels = types.UID(name), labels
	return deployment
}

// A changed VectorSidecar does not start reconciles of those that take precedence over it. Otherwise, each
// VectorSidecar that a tenant creates would start reconciles of all others.
func TestCompetitors_ExcludesPrecedingVectorSidecars(t *testing.T) {
	const count = 30
	for name, labelsFor := range map[string]func(n string) map[string]string{
		"a label each":        func(n string) map[string]string { return map[string]string{"logs": n} },
		"a common and an own": func(n string) map[string]string { return map[string]string{"app": "shop", "logs": n} },
		"the same workloads":  func(string) map[string]string { return map[string]string{"app": "shop"} },
		"all workloads":       func(string) map[string]string { return nil },
	} {
		t.Run(name, func(t *testing.T) {
			var deployments []client.Object
			for i := range count {
				deployments = append(deployments, labeledDeployment(fmt.Sprint("app-", i), map[string]string{"app": "shop", "logs": fmt.Sprint(i)}))
			}
			api, woken := newMemoryAPI(t, interceptor.Funcs{}, deployments...), 0
			for i := range count {
				sidecar := sidecarFrom(i, fmt.Sprint("logs-", i), labelsFor(fmt.Sprint(i)))
				require.NoError(t, api.Create(t.Context(), sidecar))
				woken += len(newWatches(api).competitors(t.Context(), sidecar))
			}
			require.Zero(t, woken)
		})
	}
}

// A changed VectorSidecar starts a reconcile of another one only if the other one is younger and both select, or
// selected before, the same workload.
func TestCompetitors_IncludesYoungerWithCommonWorkload(t *testing.T) {
	const first, second, third = 1, 2, 3
	logs := map[string]string{"logs": "vector"}
	changed := func(selector map[string]string) *v1alpha1.VectorSidecar {
		return sidecarFrom(second, "changed", selector)
	}
	for name, test := range map[string]struct {
		other  client.Object
		states []client.Object
		want   []types.NamespacedName
	}{
		"a younger one":                  {sidecarFrom(third, "other", logs), []client.Object{changed(logs)}, []types.NamespacedName{{Namespace: "shop", Name: "other"}}},
		"an older one":                   {sidecarFrom(first, "other", logs), []client.Object{changed(logs)}, nil},
		"of the same second, later name": {sidecarFrom(second, "other", logs), []client.Object{changed(logs)}, []types.NamespacedName{{Namespace: "shop", Name: "other"}}},
		"another label of the workload":  {sidecarFrom(third, "other", map[string]string{"app": "cart"}), []client.Object{changed(logs)}, []types.NamespacedName{{Namespace: "shop", Name: "other"}}},
		"all workloads":                  {sidecarFrom(third, "other", nil), []client.Object{changed(logs)}, []types.NamespacedName{{Namespace: "shop", Name: "other"}}},
		"another workload":               {sidecarFrom(third, "other", map[string]string{"app": "web"}), []client.Object{changed(logs)}, nil},
		"a ClusterVectorSidecar":         {clusterSidecar("other", "vector", "shop"), []client.Object{changed(logs)}, []types.NamespacedName{clusterwide.KeyIn("shop", "other")}},
		"the workload of before":         {sidecarFrom(third, "other", logs), []client.Object{changed(logs), changed(map[string]string{"logs": "none"})}, []types.NamespacedName{{Namespace: "shop", Name: "other"}}},
		"a label without a workload":     {sidecarFrom(third, "other", map[string]string{"logs": "none"}), []client.Object{changed(map[string]string{"logs": "none"})}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			api := newMemoryAPI(t, interceptor.Funcs{}, test.other, test.states[len(test.states)-1],
				labeledDeployment("cart", map[string]string{"logs": "vector", "app": "cart"}), labeledDeployment("web", map[string]string{"app": "web"}))
			require.ElementsMatch(t, test.want, newWatches(api).competitors(t.Context(), test.states...))
		})
	}
}
