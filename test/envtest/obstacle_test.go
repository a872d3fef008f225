// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// An event on the workload tells its team why it has no sidecar, once for each reason. Errors of the VectorSidecar are
// no events of workloads.
func TestVectorSidecar_EmitsObstacleOnceOnWorkload(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := func(name string) *objects.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector")
	}
	conflict := deployment("conflict").Pod(func(pod *corev1.PodSpec) {
		pod.Containers = append(pod.Containers, corev1.Container{Name: "vector", Image: "own"})
	}).Build()
	annotated := deployment("annotated").Annotated(meta.AnnotationValuesPrefix+"sidecar.image", "x").Build()
	good := deployment("good").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, conflict, annotated, good, vs)
	count := func(object client.Object, reason string) func() bool {
		return func() bool { return eventsOf(t, object, reason) == 1 }
	}
	harness.Eventually(t, "the conflict", count(conflict, meta.ReasonConflict))
	harness.Eventually(t, "the rejected annotation", count(annotated, meta.ReasonInvalidValues))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"}
		metav1.SetMetaDataAnnotation(&vs.ObjectMeta, meta.AnnotationReconcileAt, "now")
	})
	harness.Until(t, world, good, "another reconcile", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })
	harness.Eventually(t, "the event about it", func() bool { return eventsOf(t, good, meta.ReasonUpdated) == 1 })
	require.Equal(t, 1, eventsOf(t, conflict, meta.ReasonConflict))
	require.Equal(t, 1, eventsOf(t, annotated, meta.ReasonInvalidValues))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Environment = "none" })
	harness.Eventually(t, "the event on the VectorSidecar", count(vs, meta.ReasonUnknownEnvironment))
	require.Zero(t, eventsOf(t, good, meta.ReasonUnknownEnvironment))
}
