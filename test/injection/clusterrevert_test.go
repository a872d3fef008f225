// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// While the spec of a ClusterVectorSidecar is reverted, the API server injects the last known good sidecar in every
// namespace, including a new one.
func TestClusterVectorSidecar_InjectsLastKnownGood(t *testing.T) {
	t.Parallel()
	cluster := world.ClusterVectorSidecar(t)
	ask := func(c *v1alpha1.ClusterVectorSidecar, level, image string) {
		c.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert, Soak: &metav1.Duration{}}
		c.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: level, Image: image}
	}
	ask(cluster, "info", "")
	first, second := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	cart := labeled("cart", first)
	cart.Spec.Replicas = ptr.To[int32](1)
	world.Create(t, cart, cluster)
	isGood := func(c *v1alpha1.ClusterVectorSidecar) bool {
		return c.Status.Reverted == nil && c.Status.LastKnownGood != nil && c.Status.LastKnownGood.Generation == c.Generation
	}
	harness.Until(t, world, cluster, "a last known good spec", isGood)
	hashOf := func(namespace string) string {
		return awaitOverlay(t, sidecarInNamespace(cluster, namespace)).Spec.Overlays[0].Hash
	}
	untilActive(t, labeled("any", second), "vector")
	good := hashOf(second)

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { ask(c, "warn", "registry.example/vector:crashes") })
	harness.Until(t, world, cluster, "reason Reverted", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.Reverted != nil })
	harness.Until(t, world, cart, "the revert", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	third := world.Namespace(t, "team", cluster.Name)
	for _, namespace := range []string{first, second, third} {
		harness.Eventually(t, "the last known good overlay in "+namespace, func() bool {
			trial := labeled("trial", namespace)
			return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && logLevel(trial) == "info"
		})
		one := labeled("new", namespace)
		world.Create(t, one)
		require.Equal(t, "info", logLevel(one))
		harness.Until(t, world, one, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(meta.ClusterSidecarName(cluster.Name))(d) })
		require.EqualValues(t, 1, one.Generation, "it starts once")
	}
	require.Equal(t, good, hashOf(second))

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { ask(c, "error", "") })
	harness.Until(t, world, cluster, "the next spec", isGood)
	require.NotEqual(t, good, hashOf(second))
}
