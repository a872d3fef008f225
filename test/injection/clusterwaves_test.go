// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// Until a revision starts in the wave of a namespace, the overlay of that namespace does not change, also not when
// the operator restarts. The test is not parallel, because it changes the installation's values.
func TestOverlaySet_FollowsWavesOfClusterVectorSidecar(t *testing.T) {
	installation := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: options.EnvironmentsConfigMap}}
	world.Get(t, installation)
	world.SetValues(t, installation)
	const waves = "waves: [{name: canary, namespaceSelector: {matchLabels: {wave: canary}}, soak: %s}]"
	soak := func(soak string) {
		harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.RolloutKey] = fmt.Sprintf(waves, soak) })
	}
	soak("0s")
	cluster := world.ClusterVectorSidecar(t)
	cluster.Spec.Rollout = &v1alpha1.RolloutSpec{Soak: &metav1.Duration{}}
	canary, rest := world.Namespace(t, "team", cluster.Name, "wave", "canary"), world.Namespace(t, "team", cluster.Name)
	carts := []*appsv1.Deployment{labeled("cart", canary), labeled("cart", rest)}
	world.Create(t, cluster)
	awaitOverlay(t, sidecarInNamespace(cluster, canary))
	for _, cart := range carts {
		awaitOverlay(t, sidecarInNamespace(cluster, cart.Namespace))
		untilActive(t, cart, "vector")
		world.Create(t, cart)
	}
	level := func(object client.Object) string {
		for _, c := range slices.Concat(template(object).Spec.InitContainers, template(object).Spec.Containers) {
			for _, env := range c.Env {
				if c.Name == "vector" && env.Name == "VECTOR_LOG" {
					return env.Value
				}
			}
		}
		return ""
	}
	trial := func(namespace string) string {
		one := labeled("trial", namespace)
		require.NoError(t, world.Client.Create(t.Context(), one, client.DryRunAll))
		return level(one)
	}
	hashOf := func(namespace string) string {
		return awaitOverlay(t, sidecarInNamespace(cluster, namespace)).Spec.Overlays[0].Hash
	}
	harness.Until(t, world, cluster, "the first revision everywhere", func(c *v1alpha1.ClusterVectorSidecar) bool {
		isDone := func(is v1alpha1.RolloutStatus) bool { return is.State == v1alpha1.RolloutComplete }
		return len(c.Status.Waves) == 2 && isDone(c.Status.Waves[0]) && isDone(c.Status.Waves[1]) && c.Status.ReadyWorkloads == 2
	})
	before := hashOf(rest)
	soak("5m")
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data["development.yaml"] = "sidecar: {logLevel: trace}" })
	harness.Eventually(t, "the change in the first wave", func() bool { return trial(canary) == "trace" })
	harness.Until(t, world, carts[0], "the change", func(d *appsv1.Deployment) bool { return level(d) == "trace" })
	require.Equal(t, before, hashOf(rest))
	require.NotEqual(t, "trace", trial(rest))
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Annotations = map[string]string{meta.AnnotationReconcileAt: "now"}
	})
	harness.Until(t, world, cluster, "a handled request", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastHandledReconcileAt == "now" })
	require.Equal(t, before, hashOf(rest), "also after a restart")

	soak("0s")
	harness.Eventually(t, "the change in the last wave", func() bool { return trial(rest) == "trace" })
}
