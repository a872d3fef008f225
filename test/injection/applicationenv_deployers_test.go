// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

const (
	endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT"
	own      = "[{name: FIRST, value: one}]"
)

// values returns the values of a variable in the application's container.
func values(object client.Object, name string) (found []string) {
	for _, one := range injectedVariables(object, "app") {
		if key, value, _ := strings.Cut(one, "="); key == name {
			found = append(found, value)
		}
	}
	return found
}

// informed creates the Deployment of an application and waits until the operator has adopted the injected sidecar and
// variables.
func informed(t *testing.T, deploy deployer) (namespace string, deployment *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	namespace = world.Namespace(t)
	vs = newInjectingSidecar("traces", namespace, "LOG_ADDRESS")
	world.Create(t, vs)
	awaitOverlay(t, vs)
	untilActive(t, objects.NewDeployment("any", namespace).Labeled("logs", "vector").Build(), "vector-otlp")
	deploy(t, namespace, manifest("app:1", own))
	deployment = cart(namespace)
	harness.Until(t, world, deployment, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted("traces")(d) })
	untilStored(t, deployment, 1) // A controller that is late would leave this revision out.
	world.Get(t, deployment)
	require.EqualValues(t, 1, deployment.Generation)
	require.Len(t, injectedVariables(deployment, "app"), 5)
	return namespace, deployment, vs
}

// withoutSidecar deletes the VectorSidecar and waits until the Deployment has no sidecar.
func withoutSidecar(t *testing.T, deployment *appsv1.Deployment, vs *v1alpha1.VectorSidecar) {
	t.Helper()
	world.Delete(t, vs)
	harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector-otlp") })
	require.Empty(t, deployment.Spec.Template.Annotations)
	require.Empty(t, deployment.Spec.Template.Spec.Volumes)
}

// With each deployment tool, injected variables cause no conflict and no additional generation. If the manifest sets
// such a variable, its value replaces the injected one.
func TestApplicationEnvSpec_SupportsDeploymentTools(t *testing.T) {
	t.Parallel()
	for name, with := range deployers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace, deployment, vs := informed(t, with)
			before := injectedVariables(deployment, "app")
			deploy := func(image, env string, generation int64) {
				t.Helper()
				with(t, namespace, manifest(image, env))
				world.Get(t, deployment)
				require.Equal(t, generation, deployment.Generation)
			}
			deploy("app:1", own, 1)
			deploy("app:2", own, 2)
			require.Equal(t, before, injectedVariables(deployment, "app"))

			deploy("app:2", "[{name: FIRST, value: one}, {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: 'http://elsewhere:4317'}]", 3)
			require.Equal(t, []string{"http://elsewhere:4317"}, values(deployment, endpoint))
			require.NotContains(t, template(deployment).Annotations[toldByTraces], endpoint, "it is the owner's now")
			require.Len(t, injectedVariables(deployment, "app"), 5)

			deploy("app:2", own, 4)
			require.Equal(t, []string{"http://127.0.0.1:4317"}, values(deployment, endpoint), "nobody else says it any more")

			deploy("app:2", "[{name: FIRST, value: one}, {name: OTEL_EXPORTER_OTLP_ENDPOINT, valueFrom: {fieldRef: {fieldPath: status.hostIP}}}]", 5)
			require.Equal(t, []string{""}, values(deployment, endpoint), "a source in place of the value is accepted, and not with both")
			harness.Until(t, world, deployment, "the object in the operator's cache", func(d *appsv1.Deployment) bool { return isAdopted("traces")(d) })

			withoutSidecar(t, deployment, vs)
			require.Equal(t, []string{"FIRST=one", endpoint + "="}, injectedVariables(deployment, "app"))
			deploy("app:3", own, deployment.Generation+1)
			require.Equal(t, []string{"FIRST=one"}, injectedVariables(deployment, "app"), "what nobody asks for does not come back")
		})
	}
}

// If a user changes an injected variable, the changed variable stays when the sidecar is removed.
func TestApplicationEnvSpec_KeepsManuallyChangedVariables(t *testing.T) {
	t.Parallel()
	namespace, deployment, vs := informed(t, byKubectl("apply", "--server-side"))
	mustKubectl(t, namespace, "", "set", "env", "deployment/cart", "LOG_ADDRESS=elsewhere:1")
	world.Get(t, deployment)
	require.Equal(t, []string{"elsewhere:1"}, values(deployment, "LOG_ADDRESS"))
	withoutSidecar(t, deployment, vs)
	require.Equal(t, []string{"FIRST=one", "LOG_ADDRESS=elsewhere:1"}, injectedVariables(deployment, "app"))
}

// If a change of the sidecar makes an injected variable wrong, the operator removes the variable in the same rollout.
// The new value is injected by the application owner's next change of the pod template.
func TestApplicationEnvSpec_RemovesOutdatedVariables(t *testing.T) {
	t.Parallel()
	namespace, deployment, vs := informed(t, byKubectl("apply", "--server-side"))
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.OTLP.GRPCPort = ptr.To(int32(14317)) })
	harness.Until(t, world, deployment, "another port", func(d *appsv1.Deployment) bool { return d.Generation > 1 })
	require.Empty(t, values(deployment, endpoint), "in the same write: %v", injectedVariables(deployment, "app"))
	require.Len(t, injectedVariables(deployment, "app"), 4)
	require.NotContains(t, template(deployment).Annotations[toldByTraces], endpoint)
	require.EqualValues(t, 2, deployment.Generation)
	overlaysOf(t, vs, func(o *v1alpha1.Overlay) bool { return o.Hash == deployment.Annotations[meta.AnnotationInjectedHash] })
	harness.Eventually(t, "the object in the API server's cache", func() bool {
		world.Get(t, deployment)
		trial := deployment.DeepCopy()
		trial.Spec.Template.Spec.Containers[0].Image = "app:2"
		return world.Client.Update(t.Context(), trial, client.DryRunAll) == nil && len(values(trial, endpoint)) == 1
	})
	mustKubectl(t, namespace, manifest("app:2", own), "apply", "--server-side")
	world.Get(t, deployment)
	require.EqualValues(t, 3, deployment.Generation)
	require.Equal(t, []string{"http://127.0.0.1:14317"}, values(deployment, endpoint))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.ApplicationEnv = nil })
	harness.Until(t, world, deployment, "no injected variables", func(d *appsv1.Deployment) bool { return len(injectedVariables(d, "app")) == 1 })
	require.EqualValues(t, 4, deployment.Generation)
	require.NotContains(t, template(deployment).Annotations, toldByTraces)
	require.True(t, has(deployment, "vector-otlp"))
	mustKubectl(t, namespace, manifest("app:3", "[{name: LOG_ADDRESS, value: own}]"), "apply", "--server-side")
	world.Get(t, deployment)
	require.Equal(t, []string{"LOG_ADDRESS=own"}, injectedVariables(deployment, "app"), "the operator owns no variable")
}

// Scaling a workload does not change its injected variables. If the workload opts out, the variables are removed with
// the sidecar.
func TestApplicationEnvSpec_RemovesVariablesOnOptOut(t *testing.T) {
	t.Parallel()
	namespace, deployment, _ := informed(t, byApply)
	before := deployment.Spec.Template.DeepCopy()
	scale := &autoscalingv1.Scale{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: namespace}, Spec: autoscalingv1.ScaleSpec{Replicas: 2}}
	require.NoError(t, world.Client.SubResource("scale").Update(t.Context(), deployment.DeepCopy(), client.WithSubResourceBody(scale)))
	world.Get(t, deployment)
	require.Equal(t, before, &deployment.Spec.Template)
	mustKubectl(t, namespace, "", "annotate", "deployment/cart", meta.AnnotationInject+"=false")
	harness.Until(t, world, deployment, "no sidecar", func(d *appsv1.Deployment) bool { return !has(d, "vector-otlp") })
	require.Equal(t, []string{"FIRST=one"}, injectedVariables(deployment, "app"))
	require.Empty(t, deployment.Spec.Template.Annotations)
}

// If a rollback restores injected variables that are no longer requested, the operator removes them.
func TestApplicationEnvSpec_RemovesOutdatedAfterRollback(t *testing.T) {
	t.Parallel()
	namespace, deployment, vs := informed(t, byKubectl("apply", "--server-side"))
	mustKubectl(t, namespace, manifest("app:2", own), "apply", "--server-side")
	untilStored(t, deployment, 2)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.ApplicationEnv = nil })
	harness.Until(t, world, deployment, "no injected variables", func(d *appsv1.Deployment) bool { return len(injectedVariables(d, "app")) == 1 })
	untilStored(t, deployment, 3)
	mustKubectl(t, namespace, "", "rollout", "undo", "deployment/cart", "--to-revision=1")
	harness.Until(t, world, deployment, "the removal of the outdated condition", func(d *appsv1.Deployment) bool {
		return len(injectedVariables(d, "app")) == 1 && isAdopted("traces")(d) && d.Spec.Template.Spec.Containers[0].Image == "app:1"
	})
	require.NotContains(t, template(deployment).Annotations, toldByTraces)
	withoutSidecar(t, deployment, vs)
	require.Equal(t, []string{"FIRST=one"}, injectedVariables(deployment, "app"))
}

// After kubectl rollout undo, kubectl is the field manager of the restored fields, including injected variables. So
// server-side apply of another value for such a variable needs --force-conflicts.
func TestApplicationEnvSpec_ConflictsWithApplyAfterRollback(t *testing.T) {
	t.Parallel()
	apply := []string{"apply", "--server-side"}
	namespace, deployment, vs := informed(t, byKubectl(apply...))
	mustKubectl(t, namespace, "", "label", "deployment/cart", "logs-")
	harness.Until(t, world, deployment, "no injected variables", func(d *appsv1.Deployment) bool { return len(injectedVariables(d, "app")) == 1 })
	untilStored(t, deployment, 2)
	mustKubectl(t, namespace, "", "label", "deployment/cart", "logs=vector")
	harness.Until(t, world, deployment, "the operator's sidecar", func(d *appsv1.Deployment) bool { return has(d, "vector-otlp") })
	require.Len(t, injectedVariables(deployment, "app"), 1, "the operator tells nobody")
	untilStored(t, deployment, 3)

	mustKubectl(t, namespace, "", "rollout", "undo", "deployment/cart", "--to-revision=1")
	world.Get(t, deployment)
	require.Len(t, injectedVariables(deployment, "app"), 5, "revision 1 has them: %v", injectedVariables(deployment, "app"))
	other := "[{name: FIRST, value: one}, {name: OTEL_EXPORTER_OTLP_ENDPOINT, value: 'http://elsewhere:4317'}]"
	out, err := kubectl(t, namespace, manifest("app:1", other), apply...)
	require.Error(t, err)
	require.Contains(t, out, `conflict with "kubectl`)
	mustKubectl(t, namespace, manifest("app:1", own), apply...)
	mustKubectl(t, namespace, manifest("app:1", other), append(apply, "--force-conflicts")...)
	world.Get(t, deployment)
	require.Equal(t, []string{"http://elsewhere:4317"}, values(deployment, endpoint))
	withoutSidecar(t, deployment, vs)
	require.Equal(t, []string{"FIRST=one", endpoint + "=http://elsewhere:4317"}, injectedVariables(deployment, "app"))
}

// untilStored waits until a Deployment has that many revisions.
func untilStored(t *testing.T, deployment *appsv1.Deployment, count int) {
	t.Helper()
	harness.Eventually(t, "its revisions", func() bool { return revisions(t, deployment.Namespace) == count })
}
