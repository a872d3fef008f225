// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"io/fs"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// release restarts the operator as a version with a built-in chart; nil is its own chart.
func release(t *testing.T, version string, chart fs.FS) {
	t.Helper()
	require.NoError(t, running.Stop())
	world.Version, world.Chart = version, chart
	running = world.RunOperator(options)
}

// hasWriteCause reports whether an event on an object contains a text.
func hasWriteCause(t *testing.T, object client.Object, text string) bool {
	t.Helper()
	var found eventsv1.EventList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(object.GetNamespace())))
	for _, event := range found.Items {
		if event.Regarding.UID == object.GetUID() && strings.Contains(event.Note, text) {
			return true
		}
	}
	return false
}

// requireCause waits for a write of a workload, and requires its cause in the annotation, in an event and in the
// output of explain.
func requireCause(t *testing.T, deployment *appsv1.Deployment, cause string) {
	t.Helper()
	harness.Until(t, world, deployment, cause, func(d *appsv1.Deployment) bool {
		return strings.HasPrefix(d.Annotations[meta.AnnotationChangeCause], cause)
	})
	whole := deployment.Annotations[meta.AnnotationChangeCause]
	require.NotContains(t, deployment.Spec.Template.Annotations, meta.AnnotationChangeCause)
	harness.Eventually(t, "the event on the workload: "+whole, func() bool { return hasWriteCause(t, deployment, whole) })
	require.Contains(t, explained(t, deployment), whole)
}

// explained returns the output of the plugin's command explain for a workload.
func explained(t *testing.T, deployment *appsv1.Deployment) string {
	t.Helper()
	var out bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &out}
	arguments := []string{"explain", deployment.Name, "-n", deployment.Namespace, "--kubeconfig", kubeconfig}
	require.Zero(t, cli.Run(t.Context(), arguments, streams, cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}, "test"), "%s", &out)
	return out.String()
}

// Each write of a workload, from the injection to the removal, has its cause, such as a changed value, in an annotation
// of the workload.
func TestOperator_ReportsCauseOfEveryWrite(t *testing.T) {
	t.Cleanup(func() { release(t, "", nil) })
	release(t, "1.0.0", nil)
	values := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "staging.yaml", "sidecar: {}")
	world.SetValues(t, values)
	pulling := func(policy string) string {
		return strings.Replace(builtinValues(t), "imagePullPolicy: IfNotPresent", "imagePullPolicy: "+policy, 1)
	}
	edge := templateSet("edge", "values.yaml", pulling("Always"))
	addTemplateSet(t, edge)
	namespace := world.Namespace(t)
	own := objects.NewConfigMap("own", namespace, "vector.yaml", objects.VectorConfig("a"))
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithReplicas(0).Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	change := func(how func(*v1alpha1.VectorSidecarSpec)) {
		t.Helper()
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { how(&vs.Spec) })
	}
	world.Create(t, own, deployment, vs)

	requireCause(t, deployment, "VectorSidecar logs selects the workload")
	require.Equal(t, "logs", deployment.Annotations[meta.AnnotationSidecarName])

	change(func(s *v1alpha1.VectorSidecarSpec) { s.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn"} })
	requireCause(t, deployment, "values of the VectorSidecar (sidecar.logLevel); in the pods: initContainers[vector].env[VECTOR_LOG].value")

	harness.Change(t, world, values, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {image: registry.example/vector:0.57.0}"
	})
	requireCause(t, deployment, "values of the installation (sidecar.image); in the pods: initContainers[vector].image docker.io/timberio/vector:")
	require.Contains(t, deployment.Annotations[meta.AnnotationChangeCause], " → registry.example/vector:0.57.0")

	change(func(s *v1alpha1.VectorSidecarSpec) { s.TemplateSet = "edge" })
	requireCause(t, deployment, "template set default → edge; in the pods: initContainers[vector].imagePullPolicy IfNotPresent → Always")
	harness.Change(t, world, edge, func(c *corev1.ConfigMap) { c.Data["values.yaml"] = pulling("Never") })
	requireCause(t, deployment, "files of the template set (values.yaml); in the pods: initContainers[vector].imagePullPolicy Always → Never")

	change(func(s *v1alpha1.VectorSidecarSpec) {
		s.Sidecar.Config = &v1alpha1.ConfigSpec{ConfigMapRef: &v1alpha1.ConfigMapRef{Name: "own", Key: "vector.yaml"}}
	})
	requireCause(t, deployment, "values of the VectorSidecar (sidecar.config.configMapRef.")
	harness.Change(t, world, own, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = objects.VectorConfig("hunter2") })
	requireCause(t, deployment, "Vector configuration (vector.yaml); in the pods: volumes[vectorsidecar-vector-config].configMap.name")

	editAs(t, deployment, "kubectl-edit")
	requireCause(t, deployment, `another writer changed the sidecar (last writer: "kubectl-edit"); in the pods: initContainers[vector].image → registry.example/vector:0.57.0`)

	// An upgrade alone writes no workload. The next change of the policy applies its rendering.
	harness.Until(t, world, vs, "the end of the rollout", isUpToDate)
	writes := deployment.Generation
	change(func(s *v1alpha1.VectorSidecarSpec) { s.TemplateSet = desired.DefaultTemplateSet })
	requireCause(t, deployment, "template set edge → default")
	harness.Until(t, world, vs, "the end of the rollout", isUpToDate)
	require.Equal(t, writes+1, deployment.Generation)
	release(t, "1.1.0", nextRelease(t, ""))
	harness.Until(t, world, vs, "a message about a newer rendering", func(vs *v1alpha1.VectorSidecar) bool {
		return isUpToDate(vs) && strings.Contains(message(vs, meta.ConditionReady), "have a sidecar rendered by an earlier release")
	})
	harness.Change(t, world, values, func(c *corev1.ConfigMap) { c.Data[desired.PolicyKey] = "users: {min: 1000}" })
	requireCause(t, deployment, "policy (users.min); operator 1.0.0 → 1.1.0; in the pods: initContainers[vector].terminationMessagePolicy")
	require.Equal(t, writes+2, deployment.Generation)

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Labels = nil })
	harness.Until(t, world, deployment, "the removal", isClean)
	harness.Eventually(t, "the reason of the write", func() bool { return hasWriteCause(t, deployment, "VectorSidecar logs no longer selects the workload") })
	for key := range deployment.Annotations {
		require.False(t, strings.HasPrefix(key, meta.Group+"/"), key)
	}
}
