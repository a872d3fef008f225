// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/utils/ptr"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// The canary has 0 replicas. It gets a change, and other workloads wait until a user promotes the change. They get the
// next change after the canary has pods.
func TestVectorSidecar_WaitsForCanaryWithPods(t *testing.T) {
	namespace := world.Namespace(t)
	first := objects.NewDeployment("first", namespace).Labeled("logs", "vector").Labeled("first", "yes").WithReplicas(0).Build()
	other := objects.NewDeployment("other", namespace).Labeled("logs", "vector").Build()
	world.Create(t, first)
	world.Create(t, other)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
	vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"}
	vs.Spec.Rollout.Canary = &v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"first": "yes"}}}
	world.Create(t, vs)

	isWaiting := func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Canary != nil && vs.Status.Canary.State == v1alpha1.CanaryWithoutPods && vs.Status.WorkloadsWithoutPods == 1 &&
			strings.Contains(message(vs, meta.ConditionReady), "no canary has such pods")
	}
	harness.Until(t, world, vs, "a canary without pods", isWaiting)
	world.Get(t, first)
	world.Get(t, other)
	require.Equal(t, "warn", logLevel(first))
	require.Empty(t, logLevel(other))
	require.Zero(t, vs.Status.ReadyWorkloads)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationPromoteRollout, v1alpha1.PromotionOfCanary(vs.Status.Canary.Change))
	})
	harness.Until(t, world, other, "the promoted change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	harness.Until(t, world, vs, "one workload with pods", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.ReadyWorkloads == 1 && vs.Status.WorkloadsWithoutPods == 1
	})

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "error" })
	harness.Until(t, world, vs, "a canary without pods again", isWaiting)
	world.Get(t, other)
	require.Equal(t, "warn", logLevel(other), "the promotion was of the change before")
	harness.Change(t, world, first, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](1) })
	harness.Until(t, world, other, "the change that the canary has run", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	harness.Until(t, world, vs, "two workloads with pods", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.ReadyWorkloads == 2 && vs.Status.WorkloadsWithoutPods == 0
	})
}

// A canary finished a change and then lost its pods: its namespace continues. Another canary never had pods: its
// namespace waits. A restart of the operator changes neither.
func TestClusterVectorSidecar_RemembersFinishedCanaries(t *testing.T) {
	cluster := clusterOf(t)
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info"}
	cluster.Spec.Rollout.Canary = &v1alpha1.CanarySpec{Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"first": "yes"}}}
	finished, podless := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	canaries, others := map[string]*appsv1.Deployment{}, map[string]*appsv1.Deployment{}
	for _, namespace := range []string{finished, podless} {
		canaries[namespace] = objects.NewDeployment("first", namespace).Labeled("logs", "vector").Labeled("first", "yes").Build()
		others[namespace] = labeled("other", namespace)
		world.Create(t, canaries[namespace], others[namespace])
	}
	world.Create(t, cluster)
	harness.Until(t, world, cluster, "the sidecars", func(c *v1alpha1.ClusterVectorSidecar) bool { return isClusterReady(c) && c.Status.ReadyWorkloads == 4 })
	scale := func(d *appsv1.Deployment, replicas int32) {
		harness.Change(t, world, d, func(d *appsv1.Deployment) { d.Spec.Replicas = &replicas })
	}
	scale(canaries[podless], 0)
	harness.Until(t, world, cluster, "a canary without pods", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.WorkloadsWithoutPods == 1 })

	// With the mode from the start, workloads that are a second older than the ClusterVectorSidecar would wait, too.
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Spec.Sidecar.LogLevel, c.Spec.Rollout.Mode = "warn", v1alpha1.ModeOnAppRollout
	})
	harness.Until(t, world, cluster, "the waiting change", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterReady(c) && c.Status.ReadyWorkloads+c.Status.WorkloadsWithoutPods == 0
	})
	release := func(d *appsv1.Deployment) {
		harness.Change(t, world, d, func(d *appsv1.Deployment) { d.Spec.Template.Spec.Containers[0].Image = "registry.example/cart:2" })
	}
	for _, canary := range canaries {
		release(canary)
		harness.Until(t, world, canary, "the change", has("warn"))
	}
	harness.Until(t, world, cluster, "one canary that has run the change, and one without pods", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterReady(c) && c.Status.ReadyWorkloads == 1 && c.Status.WorkloadsWithoutPods == 1
	})

	require.NoError(t, running.Stop())
	scale(canaries[finished], 0)
	for _, other := range others {
		release(other)
	}
	running = world.RunOperator(options)
	harness.Until(t, world, others[finished], "the change that the canary had run", has("warn"))
	harness.Until(t, world, cluster, "a namespace whose canary never had pods", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return len(c.Status.CanariesWithoutPods) == 1 && c.Status.InjectedWorkloads == 3
	})
	world.Get(t, others[podless])
	require.NotEqual(t, "warn", logLevel(others[podless]))

	scale(canaries[podless], 1)
	harness.Until(t, world, others[podless], "the change after the canary has run it", has("warn"))
}
