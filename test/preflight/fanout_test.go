// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package preflight

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// createSimilarDeployments creates Deployments that differ only in names, images and values.
func createSimilarDeployments(t *testing.T, namespace string, count int) {
	t.Helper()
	for n := range count {
		one := objects.NewDeployment(fmt.Sprintf("app-%d", n), namespace).WithReplicas(0).Labeled("logs", "vector").Build()
		spec := &one.Spec.Template.Spec
		spec.Containers[0].Name, spec.Containers[0].Image = fmt.Sprintf("main-%d", n), fmt.Sprintf("registry.example/app:%d", n)
		spec.Containers[0].Resources = *objects.Requests("10m", "16Mi")
		world.Create(t, one)
	}
}

func injected(t *testing.T, namespace string) int {
	t.Helper()
	var all appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
	count := 0
	for i := range all.Items {
		if has(&all.Items[i]) {
			count++
		}
	}
	return count
}

// An operator changes many equal workloads, stops, and another one continues. Each sends one dry run, and each workload
// is written once. The test is not parallel, because it restarts the operator.
func TestPreflight_SendsOneDryRunPerOperator(t *testing.T) {
	const count = 12
	namespace := world.Namespace(t)
	createSimilarDeployments(t, namespace, count)
	vs := logs(namespace).WithMaxConcurrent("1").WithSoak(200 * time.Millisecond).Build()
	world.Create(t, vs)
	harness.Eventually(t, "the change in some workloads", func() bool { return injected(t, namespace) >= 3 })
	first := running
	require.NoError(t, first.Stop())
	between := injected(t, namespace)
	require.Less(t, between, count)
	running = world.RunOperator(options)
	harness.Until(t, world, vs, "the change in all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == count
	})
	for _, one := range []*harness.Operator{first, running} {
		tried, _ := countRequests(one, namespace, "deployments")
		require.Equal(t, 1, tried)
		tried, _ = countRequests(one, namespace, "pods")
		require.Equal(t, 1, tried)
	}
	var all appsv1.DeploymentList
	require.NoError(t, world.Client.List(t.Context(), &all, client.InNamespace(namespace)))
	for i := range all.Items {
		require.EqualValues(t, 2, all.Items[i].Generation, "each is written once")
	}
}

// For 100 equal workloads, the operator sends one dry run of the write and one of a pod. It then writes each workload
// once, without reading it.
func TestPreflight_SendsOneDryRunForEqualWorkloads(t *testing.T) {
	t.Parallel()
	const count = 100
	namespace := world.Namespace(t)
	createSimilarDeployments(t, namespace, count)
	vs := logs(namespace).Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "the change in all workloads", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Total().Ready+vs.Status.WorkloadsWithoutPods == count
	})
	tried, written := countRequests(running, namespace, "deployments")
	require.Equal(t, []int{1, count}, []int{tried, written})
	tried, written = countRequests(running, namespace, "pods")
	require.Equal(t, []int{1, 0}, []int{tried, written})
	for _, resource := range []string{"deployments", "pods", "secrets"} {
		require.Empty(t, running.Requests.Reads("/namespaces/"+namespace+"/"+resource), resource)
	}

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"}
	})
	harness.Eventually(t, "the next revision", func() bool {
		_, written := countRequests(running, namespace, "deployments")
		return written == 2*count
	})
	tried, _ = countRequests(running, namespace, "deployments")
	require.Equal(t, 2, tried, "another revision is tried again")
}
