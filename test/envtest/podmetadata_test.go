// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

const excluded = "vector.dev/exclude-containers"

// silent creates a sidecar whose output is excluded from node agents, with an additional pod label.
func silent(t *testing.T, namespace string) (*appsv1.Deployment, *v1alpha1.VectorSidecar) {
	t.Helper()
	deployment, vs := inject(t, namespace)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{NodeAgents: "Exclude", PodLabels: map[string]string{"example.com/telemetry": "vector"}}
	})
	harness.Until(t, world, deployment, "the label", func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Labels["example.com/telemetry"] == "vector"
	})
	return deployment, vs
}

// hasAgentAnnotation returns a condition: the pods of a Deployment have that text for Vector's agent.
func hasAgentAnnotation(text string) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool { return d.Spec.Template.Annotations[excluded] == text }
}

// The application owner sets an annotation for node agents before or after the injection. The operator keeps it and
// reports the value to add.
func TestNodeAgentsMode_KeepsAnnotationsOfApplication(t *testing.T) {
	t.Parallel()
	for name, write := range map[string]func(t *testing.T, namespace string){
		"kubectl annotate": func(t *testing.T, ns string) {
			run(t, ns, "kubectl", "patch", "deployment/cart", "-p", `{"spec":{"template":{"metadata":{"annotations":{"vector.dev/exclude-containers":"proxy"}}}}}`)
		},
		"server-side apply that takes it over": func(t *testing.T, ns string) {
			text := `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"cart"},"spec":{"template":{"metadata":{"annotations":{"vector.dev/exclude-containers":"proxy"}}}}}`
			require.Contains(t, refused(t, ns, "kubectl", "apply", "--server-side", "--field-manager=owner", "-f", file(t, text)), "vectorsidecar/logs")
			run(t, ns, "kubectl", "apply", "--server-side", "--field-manager=owner", "--force-conflicts", "-f", file(t, text))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			kubectlApply(t, namespace)
			deployment, vs := silent(t, namespace)
			require.True(t, hasAgentAnnotation("vector")(deployment))

			write(t, namespace)

			settle(t, deployment, vs)
			harness.Until(t, world, vs, "the added sidecar", func(vs *v1alpha1.VectorSidecar) bool {
				return strings.Contains(message(vs, meta.ConditionReady), `does not change the pod annotation vector.dev/exclude-containers of another field manager; add "vector"`)
			})
			require.True(t, hasAgentAnnotation("proxy")(deployment))
			require.Equal(t, "true", deployment.Spec.Template.Annotations["fluentbit.io/exclude-vector"], "the others are there")

			run(t, namespace, "kubectl", "patch", "deployment/cart", "-p", `{"spec":{"template":{"metadata":{"annotations":{"vector.dev/exclude-containers":"proxy,vector"}}}}}`)
			harness.Until(t, world, vs, "no added sidecar", func(vs *v1alpha1.VectorSidecar) bool {
				return isUpToDate(vs) && !strings.Contains(message(vs, meta.ConditionReady), "does not change the pod annotation")
			})
			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, deployment, "removal", isClean)
			require.Equal(t, map[string]string{excluded: "proxy,vector"}, deployment.Spec.Template.Annotations)
			require.NotContains(t, deployment.Spec.Template.Labels, "example.com/telemetry")
		})
	}
}

// kubectl rollout undo restores annotations and labels of the sidecar. The operator removes them together with the
// sidecar.
func TestVectorSidecar_RemovesPodMetadataAfterUndo(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := silent(t, namespace)
	settle(t, deployment, vs)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Enabled = new(bool) })
	harness.Until(t, world, deployment, "removal", isClean)
	require.Empty(t, deployment.Spec.Template.Annotations)
	run(t, namespace, "kubectl", "rollout", "status", "deployment/cart", "--timeout=60s")

	run(t, namespace, "kubectl", "rollout", "undo", "deployment/cart")

	harness.Until(t, world, deployment, "removal of what came back", isClean)
	require.Empty(t, deployment.Spec.Template.Annotations)
	require.Equal(t, map[string]string{"app": "cart"}, deployment.Spec.Template.Labels)
}

// A label in sidecar.podLabels is also in the workload's own selector. The operator reports a conflict and writes
// nothing.
func TestVectorSidecar_ReportsConflictingPodLabels(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	kubectlApply(t, namespace)
	deployment, vs := inject(t, namespace)
	settle(t, deployment, vs)
	before := rawTemplate(t, deployment)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{PodLabels: map[string]string{"app": "shipper"}}
	})
	harness.Until(t, world, vs, "conflict", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), `selector uses the label "app"`)
	})
	world.Get(t, deployment)
	require.JSONEq(t, before, rawTemplate(t, deployment))
}

// An annotation for the Cluster Autoscaler lists the sidecar's volumes. If the application owner adds a volume, that is
// one rollout. The removal of the sidecar keeps only the application's annotation.
func TestEvictableMode_AnnotatesVolumesOfSidecar(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	namespace := deployment.Namespace
	names := func(text string) func(*appsv1.Deployment) bool {
		return func(d *appsv1.Deployment) bool {
			return d.Spec.Template.Annotations[meta.AnnotationEvictableVolumes] == text
		}
	}
	require.True(t, names("vectorsidecar-vector-data")(deployment))

	before := replicaSets(t, namespace)
	run(t, namespace, "kubectl", "patch", "deployment/cart", "-p", `{"spec":{"template":{"spec":{"volumes":[{"name":"cache","emptyDir":{}}]}}}}`)
	settle(t, deployment, vs)
	require.True(t, names("vectorsidecar-vector-data")(deployment))
	require.Equal(t, before+1, replicaSets(t, namespace))

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar = &v1alpha1.SidecarSpec{Data: &v1alpha1.DataSpec{Evictable: "Never"}}
	})
	harness.Until(t, world, deployment, "no annotation", names(""))
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Data.Evictable = "Always" })
	harness.Until(t, world, deployment, "the annotation", names("vectorsidecar-vector-data"))
	settle(t, deployment, vs)

	run(t, namespace, "kubectl", "patch", "deployment/cart", "-p", `{"spec":{"template":{"metadata":{"annotations":{"cluster-autoscaler.kubernetes.io/safe-to-evict-local-volumes":"cache"}}}}}`)
	harness.Until(t, world, vs, "the added sidecar", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.Contains(message(vs, meta.ConditionReady), `safe-to-evict-local-volumes of another field manager; add "vectorsidecar-vector-data"`)
	})
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, deployment, "removal", isClean)
	require.Equal(t, map[string]string{meta.AnnotationEvictableVolumes: "cache"}, deployment.Spec.Template.Annotations)
}
