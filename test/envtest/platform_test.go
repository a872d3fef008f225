// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	dto "github.com/prometheus/client_model/go"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrlmetrics "sigs.k8s.io/controller-runtime/pkg/metrics"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// metric returns the value of the operator's metric, with a label if one is named.
func metric(t *testing.T, name string, label ...string) float64 {
	t.Helper()
	families, err := ctrlmetrics.Registry.Gather()
	require.NoError(t, err)
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			if len(label) == 0 || hasLabel(m, label[0]) {
				return m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return -1
}

func hasLabel(m *dto.Metric, value string) bool {
	for _, pair := range m.GetLabel() {
		if pair.GetValue() == value {
			return true
		}
	}
	return false
}

// installing runs the operator as the chart installs it: with the ConfigMaps of the release, and without the
// ConfigMap of other tests.
func installing(t *testing.T, values string) (upgrade func(arguments ...string)) {
	t.Helper()
	root, err := harness.Root()
	require.NoError(t, err)
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	common := []string{filepath.Join(root, "chart"), "-f", filepath.Join(root, "values", values+".yaml"), "--set", "crds.enabled=false"}
	run(t, options.Namespace, "helm", append([]string{"install", "vso", "--create-namespace"}, common...)...)
	t.Cleanup(func() {
		run(t, options.Namespace, "helm", "uninstall", "vso", "--no-hooks") // No node runs the hook here.
	})
	installed := options
	installed.MetricsBindAddress = "127.0.0.1:0"
	installed.Environment, installed.EnvironmentsConfigMap = values, "vso-vector-sidecar-operator-environments"
	operator := world.RunOperator(installed)
	t.Cleanup(func() { require.NoError(t, operator.Stop()) })
	return func(arguments ...string) {
		run(t, options.Namespace, "helm", append(append([]string{"upgrade", "vso"}, common...), arguments...)...)
	}
}

// A template set is changed, becomes invalid and is corrected. The operator applies or reports each without a restart.
func TestTemplateSet_AppliesChangesWithoutRestart(t *testing.T) {
	upgrade := installing(t, "production")
	namespace := world.Namespace(t)
	build := func(name, label string) *appsv1.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", label).WithEmptyDir("logs", "/var/log/app").Build()
	}
	plain, reading := build("plain", "plain"), build("reading", "files")
	metrics := objects.NewVectorSidecar("metrics", namespace).Selecting("logs", "plain").Build()
	// The sidecar adds no pod metadata, to which the template below would add.
	files := objects.NewVectorSidecar("files", namespace).Selecting("logs", "files").WithLogs("/var/log/app").
		Sidecar(func(s *v1alpha1.SidecarSpec) { s.Data = &v1alpha1.DataSpec{Evictable: "Never"} }).Build()
	world.Create(t, plain, reading, metrics, files)
	ready := func() {
		t.Helper()
		for _, vs := range []*v1alpha1.VectorSidecar{metrics, files} {
			harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
				return isReady(vs) && vs.Status.Total().Ready == vs.Status.MatchedDeployments
			})
		}
	}
	ready()
	require.Equal(t, "production", metrics.Status.Environment)
	require.Equal(t, "default", metrics.Status.TemplateSet)
	plainRevisions, readingRevisions := countRevisions(t, plain), countRevisions(t, reading)

	// The change of one file changes only sidecars that read log files.
	original, err := fs.ReadFile(vectorsidecar.FS, "templates/podtemplate.yaml")
	require.NoError(t, err)
	before, after, found := strings.Cut(string(original), "\ntemplate:\n")
	require.True(t, found)
	team := func(text string) string {
		changed := before + "\ntemplate:\n" + text + after
		path := filepath.Join(t.TempDir(), "podtemplate.yaml")
		require.NoError(t, os.WriteFile(path, []byte(changed), 0o600))
		return `templates.default.podtemplate\.yaml=` + path
	}
	annotated := func(value string) string {
		return "  {{- if .Values.sidecar.logs.path }}\n  metadata: {annotations: {example.com/logs: " + value + "}}\n  {{- end }}\n"
	}
	isAnnotated := func(value string) func(*appsv1.Deployment) bool {
		return func(d *appsv1.Deployment) bool { return d.Spec.Template.Annotations["example.com/logs"] == value }
	}
	upgrade("--set-file", team(annotated("first")))
	harness.Until(t, world, reading, "the change", isAnnotated("first"))
	ready()
	require.Equal(t, 1, readingRevisions.until(t, reading))
	require.Equal(t, 0, plainRevisions.until(t, plain), "its result is the same")

	// An invalid file causes no rollout, and the status names its line.
	upgrade("--set-file", team("  {{- if .Values.sidecar.logs.path }\n"))
	for _, vs := range []*v1alpha1.VectorSidecar{metrics, files} {
		harness.Until(t, world, vs, "the reason", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionConfigValid) == "False" })
		for _, part := range []string{
			meta.ReasonInvalidTemplateSet, `template set "default"`, "ConfigMap vector-system/vso-vector-sidecar-operator-templates-default",
			fmt.Sprintf("vector-sidecar/templates/podtemplate.yaml:%d", strings.Count(before, "\n")+3), "the last known good version stays in use",
		} {
			require.Contains(t, message(vs, meta.ConditionReady), part)
		}
	}
	require.InDelta(t, 1, metric(t, "vectorsidecar_template_sets", "invalid"), 0)
	set := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: options.Namespace, Name: "vso-vector-sidecar-operator-templates-default"}}
	world.Get(t, set)
	harness.Eventually(t, "an event about the ConfigMap", func() bool { return eventsOf(t, set, meta.ReasonInvalidTemplateSet) == 1 })
	late := build("late", "files")
	world.Create(t, late)
	harness.Until(t, world, late, "the last known good sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isAnnotated("first")(d) })
	require.Equal(t, 1, readingRevisions.until(t, reading))
	require.Equal(t, 0, plainRevisions.until(t, plain))

	// The corrected file is rolled out.
	upgrade("--set-file", team(annotated("second")))
	harness.Until(t, world, reading, "the correction", isAnnotated("second"))
	ready()
	require.Equal(t, 2, readingRevisions.until(t, reading))
	require.Equal(t, 0, plainRevisions.until(t, plain))
	require.Zero(t, metric(t, "vectorsidecar_template_sets", "invalid"))
	require.Equal(t, 1, eventsOf(t, set, meta.ReasonInvalidTemplateSet), "once")
}

// addTemplateSet creates the ConfigMap of a template set, and deletes it after the test.
func addTemplateSet(t *testing.T, set *corev1.ConfigMap) {
	t.Helper()
	world.Create(t, set)
	t.Cleanup(func() {
		require.NoError(t, client.IgnoreNotFound(world.Client.Delete(context.WithoutCancel(t.Context()), set)))
	})
}

// templateSet returns a template set with one file in addition to the default set's files.
func templateSet(name, file, text string) *corev1.ConfigMap {
	object := objects.NewConfigMap("templates-"+name, options.Namespace, file, text)
	object.Labels = map[string]string{meta.LabelTemplateSet: name}
	return object
}

// definedTwice defines a template that the default set also defines.
const definedTwice = `{{- define "vector-sidecar.isNative" }}{{ end }}`

// A template set has been invalid from the start. Its VectorSidecars report that, and no workload is written.
func TestTemplateSet_WritesNothingWhileInvalid(t *testing.T) {
	addTemplateSet(t, templateSet("edge", "_x.tpl", definedTwice))
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	vs.Spec.TemplateSet = "edge"
	world.Create(t, deployment, vs)

	harness.Until(t, world, vs, "a result in the status", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, `InvalidTemplateSet: template set "edge", ConfigMap vector-system/templates-edge: vector-sidecar/templates/_x.tpl:1`))
	require.Equal(t, "edge", vs.Status.TemplateSet)
	world.Get(t, deployment)
	require.True(t, isClean(deployment))
	require.Empty(t, companionsIn(t, namespace))

	set := templateSet("edge", "", "")
	harness.Change(t, world, set, func(c *corev1.ConfigMap) { c.Data = map[string]string{"NOTES.txt": "edge"} })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", isReady)

	require.NoError(t, world.Client.Delete(t.Context(), set))
	harness.Until(t, world, vs, "the loss", hasCondition(meta.ConditionConfigValid, metav1.ConditionFalse, `UnknownTemplateSet: VectorSidecar `+namespace+`/logs: template set "edge" does not exist`))
	world.Get(t, deployment)
	require.True(t, isInjected(deployment), "it keeps what it has")
}

// The values of an environment name a template set, which is rendered for VectorSidecars of that environment.
func TestEnvironment_ChoosesTemplateSet(t *testing.T) {
	addTemplateSet(t, templateSet("edge", "values.yaml", strings.Replace(builtinValues(t), "logLevel: info", "logLevel: error", 1)))
	world.SetValues(t, objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "qa.yaml", "templateSet: edge"))
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").InEnvironment("qa").Build()
	world.Create(t, deployment, vs)

	harness.Until(t, world, deployment, "the set's default", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })
	harness.Until(t, world, vs, "the set's name", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.TemplateSet == "edge" })

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.TemplateSet = desired.DefaultTemplateSet })
	harness.Until(t, world, deployment, "the built-in default", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
}

func builtinValues(t *testing.T) string {
	t.Helper()
	text, err := fs.ReadFile(vectorsidecar.FS, "values.yaml")
	require.NoError(t, err)
	return string(text)
}

func TestPolicy_AppliesChangesWithoutRestart(t *testing.T) {
	installation := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey, "images: {registries: [registry.example]}")
	world.SetValues(t, installation)
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "the rejection", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "PolicyViolation: "))
	require.Contains(t, message(vs, meta.ConditionReady), "template.spec.initContainers[0].image")

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.PolicyKey] = "images: {registries: [docker.io/timberio]}" })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", isReady)

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.PolicyKey] = "images: {registrys: []}" })
	harness.Until(t, world, vs, "the reason", hasCondition(meta.ConditionReady, metav1.ConditionFalse, "InvalidPolicy: ConfigMap vector-system/environments policy:1: images.registrys: unknown key; did you mean registries?"))
	harness.Eventually(t, "an event about the ConfigMap", func() bool { return eventsOf(t, installation, meta.ReasonInvalidPolicy) == 1 })

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { delete(c.Data, desired.PolicyKey) })
	harness.Until(t, world, vs, "readiness", isReady)
}

// Namespaces and workloads override only the values that the policy allows.
func TestPolicy_AllowsOverridesOfValues(t *testing.T) {
	world.SetValues(t, objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey,
		"overrides: {namespaces: [sidecar.logLevel], workloads: [sidecar.threads]}"))
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	other := objects.NewDeployment("other", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, other, vs)
	harness.Until(t, world, vs, "readiness", isReady)
	threads := meta.AnnotationValuesPrefix + "sidecar.threads"

	defaults := objects.NewConfigMap(meta.NamespaceDefaults, namespace, "values.yaml", "sidecar: {logLevel: trace}")
	world.Create(t, defaults)
	harness.Until(t, world, deployment, "the namespace's default", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })

	harness.Until(t, world, vs, "readiness", isReady)
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, threads, "many") })
	harness.Until(t, world, vs, "the reported error", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "1 of 2 Deployments cannot get the sidecar: Deployment "+namespace+"/cart: values for environment \"development\": annotation "+threads+": sidecar.threads: got string, want integer"))
	require.True(t, isInjected(deployment))

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Annotations[threads] = "3" })
	harness.Until(t, world, deployment, "the override", func(d *appsv1.Deployment) bool { return variable(d, "VECTOR_THREADS") == "3" })
	harness.Until(t, world, vs, "readiness", isReady)
	world.Get(t, other)
	require.Empty(t, variable(other, "VECTOR_THREADS"))

	harness.Change(t, world, defaults, func(c *corev1.ConfigMap) { c.Data["values.yaml"] = "sidecar: {image: x}" })
	harness.Until(t, world, vs, "the rejection", hasCondition(meta.ConditionConfigValid, metav1.ConditionFalse, "ConfigMap "+namespace+"/vectorsidecar-defaults values.yaml:1: a namespace may not set sidecar.image; the platform allows sidecar.logLevel"))
}

// variable returns a value from the sidecar's environment variables.
func variable(d *appsv1.Deployment, name string) string {
	for _, c := range d.Spec.Template.Spec.InitContainers {
		for _, entry := range c.Env {
			if entry.Name == name {
				return entry.Value
			}
		}
	}
	return ""
}

// The API server would reject pods with the sidecar. The operator reports the reason and does not write the workload.
func TestVectorSidecar_ReportsPodRejectionBeforeWrite(t *testing.T) {
	world.SetValues(t, objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, desired.PolicyKey, "podSecurity: privileged"))
	namespace := world.Namespace(t)
	no, yes := false, true
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
		pod.SecurityContext = &corev1.PodSecurityContext{RunAsNonRoot: &yes, SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault}}
		pod.Containers[0].SecurityContext = &corev1.SecurityContext{
			AllowPrivilegeEscalation: &no, Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		}
	}).Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.SecurityContext = &corev1.SecurityContext{RunAsUser: new(int64), RunAsNonRoot: &no}
	}).Build()
	labeled := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	const enforce = "pod-security.kubernetes.io/enforce"
	harness.Change(t, world, labeled, func(n *corev1.Namespace) { n.Labels[enforce] = "restricted" })
	world.Create(t, deployment, vs)
	before := rawTemplate(t, deployment)

	harness.Until(t, world, vs, "the rejection", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "PodSecurity: 1 of 1 Deployments cannot get the sidecar"))
	require.Contains(t, message(vs, meta.ConditionReady), `restricted:latest, which the workload passes without the sidecar, but not with it: runAsNonRoot != true (container "vector"`)
	require.Equal(t, before, rawTemplate(t, deployment))
	require.Empty(t, companionsIn(t, namespace))

	harness.Change(t, world, labeled, func(n *corev1.Namespace) { n.Labels[enforce] = "privileged" })
	harness.Until(t, world, deployment, "the sidecar, as the namespace now allows it", isInjected)
}

// Templates do not read the workload. The operator renders a change once for all workloads.
func TestVectorSidecar_RendersFanOutOnce(t *testing.T) {
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	counting := options
	counting.MetricsBindAddress = "127.0.0.1:0"
	world.StartOperator(t, counting)
	harness.Eventually(t, "the metrics", func() bool { return metric(t, "vectorsidecar_renders_total", "ok") >= 0 })
	namespace := world.Namespace(t)
	all := fleet(t, namespace, 5, asIs)
	before := metric(t, "vectorsidecar_renders_total", "ok")
	vs := objects.NewVectorSidecar("logs", namespace).MatchingAll().Build()
	world.Create(t, vs)

	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && int(vs.Status.Total().Ready) == len(all)
	})

	require.InDelta(t, 1, metric(t, "vectorsidecar_renders_total", "ok")-before, 0)
}
