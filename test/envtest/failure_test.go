// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A write that restarts no pods does not end a failure, also after a restart of the operator.
func TestRollout_StaysFailedAfterAnnotationWrite(t *testing.T) {
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithProgressDeadline(3).Build()
	world.Create(t, deployment)
	harness.Until(t, world, deployment, "its first rollout", isRolledOut)
	huge := func(s *v1alpha1.SidecarSpec) { s.Resources = resources("1000") }
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithValues(map[string]any{"owner": "a"}).Sidecar(huge).Build()
	world.Create(t, vs)
	// A deadline that passes before the first pod of the template exists ends with that pod.
	harness.Until(t, world, deployment, "its deadline to pass with the new pod", func(d *appsv1.Deployment) bool {
		return d.Status.UpdatedReplicas == 1 && workload.ReadState(d).Rollout == workload.RolloutFailed && isInjected(d)
	})
	hasFailed := func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Failed == 1 }
	harness.Until(t, world, vs, "the failure", hasFailed)
	requireRecorded(t, "failed", vs, "Stalled=True RolloutFailed")

	for _, owner := range []string{"b", "c"} {
		noted := deployment.Annotations[meta.AnnotationRenderedFrom]
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Spec.Values = objects.NewVectorSidecar("", "").WithValues(map[string]any{"owner": owner}).Build().Spec.Values
		})
		harness.Until(t, world, deployment, "the recorded wait", func(d *appsv1.Deployment) bool { return d.Annotations[meta.AnnotationRenderedFrom] != noted })
		harness.Until(t, world, vs, "a reconcile of the current generation", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.ObservedGeneration == vs.Generation })
		require.True(t, hasFailed(vs), message(vs, meta.ConditionReady))
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Annotations = map[string]string{meta.AnnotationReconcileAt: owner}
		})
		harness.Until(t, world, vs, "a reconcile of the current generation", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.LastHandledReconcileAt == owner })
		require.True(t, hasFailed(vs), message(vs, meta.ConditionReady))
	}
}
