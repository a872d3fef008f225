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

// While a spec is reverted, the API server injects the last known good sidecar into new workloads and into those that
// their application owner deploys. After the spec changes again and succeeds, it injects the sidecar of the new spec.
func TestOverlaySet_InjectsLastKnownGood(t *testing.T) {
	t.Parallel()
	namespace, deployment, vs := settled(t, byApply)
	ask := func(level, image string) {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert, Soak: &metav1.Duration{}}
			vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: level, Image: image}
		})
	}
	hash := func() string {
		world.Get(t, deployment)
		return deployment.Annotations[meta.AnnotationInjectedHash]
	}
	offers := func(hash string) {
		overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool { return o.SkipReason == "" && o.Hash == hash })
	}
	ask("info", "")
	harness.Until(t, world, vs, "a last known good spec", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.LastKnownGood != nil && vs.Status.LastKnownGood.Generation == vs.Generation
	})
	good := hash()
	require.Equal(t, "info", logLevel(deployment))
	offers(good)

	ask("warn", "registry.example/vector:crashes")
	harness.Until(t, world, vs, "reason Reverted", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Reverted != nil })
	harness.Until(t, world, deployment, "the revert", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	offers(good)
	level := func(name, want string) {
		one := objects.NewDeployment(name, namespace).Labeled("logs", "vector").Build()
		harness.Eventually(t, "an overlay of "+want, func() bool {
			trial := one.DeepCopy()
			return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && logLevel(trial) == want
		})
		world.Create(t, one)
		require.Equal(t, want, logLevel(one))
		harness.Until(t, world, one, "its pods", func(d *appsv1.Deployment) bool { return isAdopted("logs")(d) && d.Status.AvailableReplicas == 1 })
		require.EqualValues(t, 1, one.Generation, "it starts once")
	}
	level("new", "info")
	byApply(t, namespace, manifest("app:2", ""))
	world.Get(t, deployment)
	require.Equal(t, "info", logLevel(deployment), "what its owner deploys has it from the start")

	ask("error", "")
	harness.Until(t, world, vs, "the next spec", func(vs *v1alpha1.VectorSidecar) bool {
		return vs.Status.Reverted == nil && vs.Status.LastKnownGood != nil && vs.Status.LastKnownGood.Generation == vs.Generation
	})
	offers(hash())
	level("next", "error")
}
