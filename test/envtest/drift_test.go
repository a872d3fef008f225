// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const imageOfNobody = `{"spec":{"template":{"spec":{"initContainers":[{"name":"vector","image":"registry.example/other:1"}]}}}}`

// editAs changes the sidecar's image as a field manager.
func editAs(t *testing.T, deployment *appsv1.Deployment, manager string) {
	t.Helper()
	patch := client.RawPatch(types.StrategicMergePatchType, []byte(imageOfNobody))
	require.NoError(t, world.Client.Patch(t.Context(), deployment, patch, client.FieldOwner(manager)))
}

func image(d *appsv1.Deployment) string { return d.Spec.Template.Spec.InitContainers[0].Image }

func TestDriftPolicy_CorrectsManualChanges(t *testing.T) {
	t.Parallel()
	for _, manager := range []string{"kubectl-edit", "kubectl-set", "kubectl-patch"} {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)
			want := image(deployment)

			editAs(t, deployment, manager)

			harness.Until(t, world, deployment, "the image", func(d *appsv1.Deployment) bool { return image(d) == want })
			harness.Until(t, world, vs, "readiness", isReady)
		})
	}
}

// With driftPolicy Report, a manual change is reported and stays.
func TestDriftReport_ReportsDriftWithoutWrites(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.DriftPolicy = v1alpha1.DriftReport })
	writes := len(running.Requests.Writes("/namespaces/" + vs.Namespace + "/deployments"))

	editAs(t, deployment, "kubectl-edit")

	// The status may still report the VectorSidecar's previous rollout.
	harness.Until(t, world, vs, "the report", func(vs *v1alpha1.VectorSidecar) bool {
		return condition(vs, meta.ConditionReady) == "False" && strings.HasPrefix(message(vs, meta.ConditionReady), "Drifted: ")
	})
	require.Contains(t, message(vs, meta.ConditionReady), `Drifted: 1 of 1 Deployments cannot get the sidecar: Deployment `)
	require.Contains(t, vs.Status.Workloads[0].Message, `last recorded writer: "kubectl-edit"`)
	require.Len(t, running.Requests.Writes("/namespaces/"+vs.Namespace+"/deployments"), writes)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.DriftPolicy = v1alpha1.DriftEnforce })
	harness.Until(t, world, deployment, "the correction", func(d *appsv1.Deployment) bool { return image(d) != "registry.example/other:1" })
}

// The operator does not force its value into a field of a deployment tool.
func TestVectorSidecar_ReportsConflictWithDeployer(t *testing.T) {
	t.Parallel()
	for _, manager := range []string{"helm", "argocd-controller", "kustomize-controller"} {
		t.Run(manager, func(t *testing.T) {
			t.Parallel()
			deployment, vs := injected(t)

			editAs(t, deployment, manager)

			harness.Until(t, world, vs, "the conflict", func(vs *v1alpha1.VectorSidecar) bool {
				return condition(vs, meta.ConditionStalled) == "True"
			})
			require.Contains(t, message(vs, meta.ConditionReady), "Conflict: ")
			require.Contains(t, message(vs, meta.ConditionReady), `conflict with "`+manager+`"`)
			require.Contains(t, message(vs, meta.ConditionReady), `.spec.template.spec.initContainers[name="vector"].image`)
			world.Get(t, deployment)
			require.Equal(t, "registry.example/other:1", image(deployment))
		})
	}
}

// Another writer removes the sidecar after each write. After four writes, the operator stops and reports a correction
// loop.
func TestVectorSidecar_StopsCorrectionLoops(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	ctx := t.Context()
	// A self-healing deployer that knows no sidecar.
	stop := world.Watch(t, &appsv1.DeploymentList{}, func(object client.Object) {
		if d, ok := object.(*appsv1.Deployment); ok && isInjected(d) {
			patch := client.RawPatch(types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"initContainers":[{"name":"vector","$patch":"delete"}]}}}}`))
			if err := world.Client.Patch(ctx, d, patch, client.FieldOwner("self-healer")); err != nil && ctx.Err() == nil {
				t.Error(err)
			}
		}
	}, client.InNamespace(vs.Namespace))

	harness.Until(t, world, vs, "the failure", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionStalled) == "True" })
	stop()

	require.Contains(t, message(vs, meta.ConditionReady), "CorrectionLoop: ")
	require.Contains(t, vs.Status.Workloads[0].Message, "after each of 4 writes")
	require.Len(t, running.Requests.Writes("/namespaces/"+vs.Namespace+"/deployments/"+deployment.Name), 4)
	harness.Eventually(t, "an event", func() bool { return eventsOf(t, vs, meta.ReasonCorrectionLoop) == 1 })

	// A changed sidecar is applied again.
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
}

// A workload opts out and in any number of times. That is no correction loop, because only the operator removes the
// sidecar.
func TestOptOutValue_DoesNotCountAsCorrectionLoop(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	for range 4 {
		harness.Change(t, world, deployment, func(d *appsv1.Deployment) {
			metav1.SetMetaDataAnnotation(&d.ObjectMeta, meta.AnnotationInject, "false")
		})
		harness.Until(t, world, deployment, "the removal of the sidecar", isClean)
		harness.Change(t, world, deployment, func(d *appsv1.Deployment) { delete(d.Annotations, meta.AnnotationInject) })
		harness.Until(t, world, deployment, "the sidecar", isInjected)
	}
	harness.Until(t, world, vs, "readiness", isUpToDate)
}

// Two VectorSidecars with different container names are injected into the same workload.
func TestVectorSidecar_SupportsSecondWithOtherContainerName(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	first := objects.NewVectorSidecar("first", namespace).Selecting("logs", "vector").Build()
	second := objects.NewVectorSidecar("second", namespace).Selecting("logs", "vector").Named("shipper").
		Sidecar(func(s *v1alpha1.SidecarSpec) {
			port, health := int32(9599), int32(8687)
			s.Metrics, s.Health = &v1alpha1.MetricsSpec{Port: &port}, &v1alpha1.HealthSpec{Port: &health}
		}).Build()
	world.Create(t, deployment, first)
	harness.Until(t, world, deployment, "the first sidecar", isInjected)
	world.Create(t, second)

	harness.Until(t, world, second, "readiness", isUpToDate)
	harness.Until(t, world, first, "readiness", isUpToDate)
	world.Get(t, deployment)
	require.True(t, carries(deployment, "vector"))
	require.True(t, carries(deployment, "shipper"))
	require.Equal(t, "vector", deployment.Annotations[meta.AnnotationContainerName])
	require.Equal(t, "shipper", deployment.Annotations[meta.AnnotationKeyFor(meta.AnnotationContainerName, "second")])

	require.NoError(t, world.Client.Delete(t.Context(), first))
	harness.Until(t, world, deployment, "the removal of the first sidecar, and the plain annotations of the second", func(d *appsv1.Deployment) bool {
		return isClean(d) && d.Annotations[meta.AnnotationContainerName] == "shipper"
	})
	require.True(t, carries(deployment, "shipper"))
	require.NotContains(t, deployment.Annotations, meta.AnnotationKeyFor(meta.AnnotationContainerName, "second"))
}

// Two VectorSidecars use the same container name. The younger one reports a conflict, and is injected after the older
// one is deleted.
func TestVectorSidecar_PrecedesYoungerWithEqualContainerName(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	older := objects.NewVectorSidecar("b-older", namespace).Selecting("logs", "vector").Build()
	world.Create(t, older)
	secondPasses(t, older)
	younger := objects.NewVectorSidecar("a-younger", namespace).Selecting("logs", "vector").WithEnv("WHO", "younger").Build()
	world.Create(t, younger)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment)

	harness.Until(t, world, older, "readiness", isUpToDate)
	harness.Until(t, world, younger, "the conflict", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Total().Conflicting == 1 })
	require.Contains(t, message(younger, meta.ConditionReady), "VectorSidecar b-older, which is older, injects a container of the same name")
	require.Len(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"), 1)

	require.NoError(t, world.Client.Delete(t.Context(), older))

	harness.Until(t, world, younger, "its rollout", isUpToDate)
}
