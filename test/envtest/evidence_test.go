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

// The canary has 0 replicas: it gets a change and is no evidence. The other workload gets the change when a user promotes
// it, and the next one when the canary has pods.
func TestVectorSidecar_CanaryWithoutPods(t *testing.T) {
	namespace := world.Namespace(t)
	first := objects.NewDeployment("first", namespace).Labelled("logs", "vector").Labelled("first", "yes").WithReplicas(0).Build()
	other := objects.NewDeployment("other", namespace).Labelled("logs", "vector").Build()
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
	harness.Until(t, world, vs, "that the canary has no pods", isWaiting)
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
	harness.Until(t, world, vs, "that the canary has no pods again", isWaiting)
	world.Get(t, other)
	require.Equal(t, "warn", logLevel(other), "the promotion was of the change before")
	harness.Change(t, world, first, func(d *appsv1.Deployment) { d.Spec.Replicas = ptr.To[int32](1) })
	harness.Until(t, world, other, "the change that the canary has run", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	harness.Until(t, world, vs, "two workloads with pods", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.ReadyWorkloads == 2 && vs.Status.WorkloadsWithoutPods == 0
	})
}
