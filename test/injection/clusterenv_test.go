// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A ClusterVectorSidecar injects environment variables into the application containers of each namespace. When it is
// deleted, the variables are removed.
func TestClusterVectorSidecar_InjectsApplicationEnv(t *testing.T) {
	t.Parallel()
	cluster := world.ClusterVectorSidecar(t)
	cluster.Spec.VectorSidecarSpec = newInjectingSidecar("", "", "LOG_ADDRESS").Spec
	name := meta.ClusterSidecarName(cluster.Name)
	spaces := []string{world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)}
	world.Create(t, cluster)
	var all []*appsv1.Deployment
	for _, namespace := range spaces {
		awaitOverlay(t, sidecarInNamespace(cluster, namespace))
		cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
		untilActive(t, cart, "vector-otlp")
		world.Create(t, cart)
		require.Equal(t, []string{
			"OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:4317", "OTEL_EXPORTER_OTLP_PROTOCOL=grpc",
			"OTEL_RESOURCE_ATTRIBUTES=service.name=cart,service.namespace=" + namespace + ",k8s.namespace.name=" + namespace + ",k8s.deployment.name=cart",
			"LOG_ADDRESS=127.0.0.1:5170",
		}, injectedVariables(cart, "app"))
		harness.Until(t, world, cart, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(name)(d) })
		require.EqualValues(t, 1, cart.Generation)
		all = append(all, cart)
	}
	world.RemoveCluster(t, cluster)
	for _, cart := range all {
		world.Get(t, cart)
		require.Equal(t, []string{"app"}, names(cart))
		require.Empty(t, injectedVariables(cart, "app"))
		require.Empty(t, cart.Spec.Template.Annotations)
	}
}

// With spec.ownedWorkloads AtAdmission, a workload with a controller owner receives the sidecar of a
// ClusterVectorSidecar when its owner writes it. When the ClusterVectorSidecar is deleted, the sidecar is removed.
func TestOwnedAtAdmission_InjectsClusterVectorSidecar(t *testing.T) {
	t.Parallel()
	cluster := world.ClusterVectorSidecar(t)
	cluster.Spec.OwnedWorkloads, cluster.Spec.Workloads = v1alpha1.OwnedAtAdmission, []v1alpha1.WorkloadKind{"StatefulSet"}
	cluster.Spec.Rollout = &v1alpha1.RolloutSpec{Soak: &metav1.Duration{}}
	namespace := world.Namespace(t, "team", cluster.Name)
	early := ownedBy(t, "StatefulSet", "early", namespace, "app:1")
	world.Create(t, early, cluster)
	awaitOverlay(t, sidecarInNamespace(cluster, namespace))
	untilActive(t, ownedBy(t, "StatefulSet", "any", namespace, "app:1"), "vector")
	harness.Until(t, world, cluster, "the workload left to its owner", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return len(c.Status.Workloads) == 1 && c.Status.Workloads[0].Reason == meta.ReasonOwnedBy
	})

	owner := &anOwner{}
	owner.follow(t, ownedBy(t, "StatefulSet", "orders", namespace, "app:1"))
	live := ownedBy(t, "StatefulSet", "orders", namespace, "")
	world.Get(t, live)
	require.True(t, has(live, "vector"))
	harness.Until(t, world, cluster, "a finished rollout", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return c.Status.ObservedGeneration == c.Generation && c.Status.ReadyWorkloads == 1 && len(c.Status.Workloads) == 1
	})
	require.Equal(t, 2, templates(t, namespace, "StatefulSet"), "that of the early one, and its own")
	require.Empty(t, running.Requests.Writes("/namespaces/"+namespace+"/statefulsets/early"))
	owner.isIdle.Store(true)

	world.RemoveCluster(t, cluster)
	world.Get(t, live)
	require.Equal(t, []string{"app"}, names(live))
	require.NoError(t, world.Client.Get(t.Context(), client.ObjectKeyFromObject(early), early))
	require.False(t, has(early, "vector"))
}
