// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// neverStarts returns a Deployment with a short deadline whose pods never get ready.
func neverStarts(name, namespace string) *objects.Deployment {
	return objects.NewDeployment(name, namespace).Labeled("logs", "vector").PodAnnotated("starts-after", "24h").WithProgressDeadline(3)
}

// isLate reports whether a Deployment has exceeded its progress deadline.
func isLate(d *appsv1.Deployment) bool {
	return d.Status.ObservedGeneration == d.Generation && slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// isMarked reports whether a workload is marked as failed before the injection.
func isMarked(object metav1.Object) bool {
	_, ok := object.GetAnnotations()[meta.AnnotationFailedBefore(meta.Manager("logs"))]
	return ok
}

// Deployments that failed before the injection get the sidecar after the healthy ones. Other workloads do not wait for
// them, also after a restart of the operator.
func TestVectorSidecar_InjectsFailedDeploymentsLast(t *testing.T) {
	namespace := world.Namespace(t)
	var broken, healthy []*appsv1.Deployment
	for n := range 5 {
		broken = append(broken, neverStarts(fmt.Sprint("broken-", n), namespace).Build())
		world.Create(t, broken[n])
	}
	for n := range 4 {
		healthy = append(healthy, objects.NewDeployment(fmt.Sprint("healthy-", n), namespace).Labeled("logs", "vector").Build())
		world.Create(t, healthy[n])
	}
	for _, d := range broken {
		harness.Until(t, world, d, "its deadline", isLate)
	}
	for _, d := range healthy {
		harness.Until(t, world, d, "its first rollout", isRolledOut)
	}
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithMaxConcurrent("2").Build()
	world.Create(t, vs)

	for _, d := range healthy {
		harness.Until(t, world, d, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
		require.False(t, isMarked(d))
	}
	harness.Until(t, world, broken[0], "the sidecar", isInjected)
	require.True(t, isMarked(broken[0]))

	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
	later := objects.NewDeployment("later", namespace).Labeled("logs", "vector").Build()
	world.Create(t, later)
	harness.Until(t, world, later, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
	for _, d := range broken {
		harness.Until(t, world, d, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isMarked(d) && isLate(d) })
	}
	harness.Until(t, world, vs, "the status", func(vs *v1alpha1.VectorSidecar) bool {
		hasOther := slices.ContainsFunc(vs.Status.Workloads, func(entry v1alpha1.WorkloadStatus) bool {
			return entry.State != v1alpha1.StateUnavailable || entry.Reason != meta.ReasonFailedBefore
		})
		return vs.Status.ReadyWorkloads == 5 && len(vs.Status.Workloads) == 5 && !hasOther
	})
	require.Zero(t, vs.Status.Total().Failed)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
	for _, d := range append(healthy, later) {
		harness.Until(t, world, d, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" && isRolledOut(d) })
	}
	harness.Change(t, world, broken[0], func(d *appsv1.Deployment) { d.Spec.Template.Annotations = nil })
	harness.Until(t, world, broken[0], "pods that run", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" && isRolledOut(d) })

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "error" })
	harness.Until(t, world, broken[0], "the next change", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	require.False(t, isMarked(broken[0]), "it has recovered")

	world.Delete(t, vs)
	for _, d := range broken {
		harness.Until(t, world, d, "its removal", func(d *appsv1.Deployment) bool { return isClean(d) && !isMarked(d) })
	}
}

// A StatefulSet has no progress deadline, so the operator treats it as failed after some time without ready pods.
func TestVectorSidecar_InjectsFailedStatefulSetsLast(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	set, _ := objects.NewWorkload("StatefulSet", "broken", namespace, map[string]string{"logs": "vector"}).(*appsv1.StatefulSet)
	metav1.SetMetaDataAnnotation(&set.Spec.Template.ObjectMeta, "starts-after", "24h")
	world.Create(t, set)
	healthy := objects.NewDeployment("healthy", namespace).Labeled("logs", "vector").Build()
	world.Create(t, healthy)
	harness.Until(t, world, healthy, "its first rollout", isRolledOut)
	harness.Until(t, world, set, "some time without pods", func(s *appsv1.StatefulSet) bool {
		return s.Status.ObservedGeneration == s.Generation && time.Since(s.CreationTimestamp.Time) > 15*time.Second
	})
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").For("Deployment", "StatefulSet").WithMaxConcurrent("1").Build()
	world.Create(t, vs)

	harness.Until(t, world, healthy, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
	harness.Until(t, world, set, "the sidecar", func(s *appsv1.StatefulSet) bool { return isMarked(s) })
	later := objects.NewDeployment("later", namespace).Labeled("logs", "vector").Build()
	world.Create(t, later)
	harness.Until(t, world, later, "the sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
}
