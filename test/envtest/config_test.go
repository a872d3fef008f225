// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// An annotation on the ConfigMap starts no rollout, and new content starts exactly one.
func TestConfigMapRef_RollsOutNewContentOnce(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	config := objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig("first"))
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("vector", "").Build()
	world.Create(t, config, deployment, vs)
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	generation, sets := deployment.Generation, replicaSets(t, namespace)
	version := deployment.Annotations[meta.AnnotationConfigMapVersion]
	require.NotEmpty(t, version)

	// The annotation does not change the content, so it causes no write. The change of the content is the event
	// that the loop waits for.
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Annotations = map[string]string{"touched": "yes"} })
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = objects.VectorConfig("second") })
	harness.Until(t, world, deployment, "the new version", func(d *appsv1.Deployment) bool {
		return d.Annotations[meta.AnnotationConfigMapVersion] != version
	})
	harness.Until(t, world, deployment, "its rollout", isRolledOut)
	harness.Until(t, world, vs, "readiness", isReady)

	world.Get(t, deployment)
	require.Equal(t, generation+1, deployment.Generation)
	require.Equal(t, sets+1, replicaSets(t, namespace))
}

func TestConfigSpec_StoresInlineConfigInImmutableConfigMap(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithInlineConfig(objects.VectorConfig("{{ first }}")).Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)

	first := companionsIn(t, namespace)
	require.Len(t, first, 1)
	require.True(t, *first[0].Immutable)
	require.Equal(t, objects.VectorConfig("{{ first }}"), first[0].Data["vector.yaml"], "to the byte, Vector's own templates included")
	require.Empty(t, first[0].OwnerReferences, "the garbage collector would take it before the pods that read it")

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Config.Inline = objects.VectorConfig("second") })

	harness.Until(t, world, vs, "readiness", func(vs *v1alpha1.VectorSidecar) bool {
		return isReady(vs) && vs.Status.ObservedGeneration == vs.Generation
	})
	require.Equal(t, 2, replicaSetsWithSidecar(t, namespace), "one rollout for each content")
	require.Len(t, companionsIn(t, namespace), 2, "the workload can be rolled back to the first")

	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Spec.RevisionHistoryLimit = new(int32) })

	harness.Eventually(t, "the deletion of the old ConfigMap", func() bool {
		now := companionsIn(t, namespace)
		return len(now) == 1 && now[0].Name != first[0].Name
	})
	world.Get(t, deployment)
	require.Contains(t, volumeConfigMaps(deployment), companionsIn(t, namespace)[0].Name)
}

func TestConfigSpec_KeepsTOMLFormat(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	toml := "[sources.in]\ntype = \"demo_logs\"\nformat = \"json\"\n\n[sinks.out]\ntype = \"blackhole\"\ninputs = [\"in\"]\n"
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithInlineConfig(toml).Build()
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, deployment, vs)

	harness.Until(t, world, deployment, "the sidecar", isInjected)

	require.Equal(t, toml, companionsIn(t, namespace)[0].Data["vector.toml"])
	require.Contains(t, deployment.Spec.Template.Spec.InitContainers[0].Args, "/etc/vector/vector.toml")
}

// With reload Live, new content is written to the mounted ConfigMap, and no pods restart.
func TestReloadLive_UpdatesConfigWithoutRollout(t *testing.T) {
	t.Parallel()
	live := func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }
	for name, build := range map[string]func(*objects.VectorSidecar) *objects.VectorSidecar{
		"inline": func(b *objects.VectorSidecar) *objects.VectorSidecar {
			return b.WithInlineConfig(objects.VectorConfig("first"))
		},
		"referenced": func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("vector", "") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			config := objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig("first"))
			deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			vs := build(objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector")).Sidecar(live).Build()
			world.Create(t, config, deployment, vs)
			harness.Until(t, world, vs, "readiness", isUpToDate)
			world.Get(t, deployment)
			require.Contains(t, deployment.Spec.Template.Spec.InitContainers[0].Args, "--watch-config")
			template, version := rawTemplate(t, deployment), deployment.Annotations[meta.AnnotationConfigMapVersion]

			if name == "inline" {
				harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.Config.Inline = objects.VectorConfig("second") })
			} else {
				harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = objects.VectorConfig("second") })
			}

			harness.Until(t, world, deployment, "the new version", func(d *appsv1.Deployment) bool {
				return d.Annotations[meta.AnnotationConfigMapVersion] != version
			})
			require.Equal(t, template, rawTemplate(t, deployment))
			require.Equal(t, 1, replicaSetsWithSidecar(t, namespace))
			companions := companionsIn(t, namespace)
			require.Len(t, companions, 1)
			require.Equal(t, objects.VectorConfig("second"), companions[0].Data["vector.yaml"])
		})
	}
}

// A ConfigMap of another client has the name of a companion. The operator reports a conflict and does not change it.
func TestWriteCompanion_KeepsConfigMapOfOtherClient(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	theirs := objects.NewConfigMap("logs-vector-live", namespace, "vector.yaml", "theirs")
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").
		Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build()
	world.Create(t, theirs, deployment, vs)

	harness.Until(t, world, vs, "the conflict", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "Conflict: ConfigMap "+namespace+"/logs-vector-live exists, but does not belong to VectorSidecar"))
	world.Get(t, theirs)
	require.Equal(t, "theirs", theirs.Data["vector.yaml"])
	require.Empty(t, theirs.OwnerReferences)
	world.Get(t, deployment)
	require.True(t, isClean(deployment))

	require.NoError(t, world.Client.Delete(t.Context(), theirs))
	harness.Until(t, world, deployment, "the sidecar", isInjected)
}

func TestOperator_DoesNotCreateUnusedCompanion(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithPort(9598).Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, deployment, vs)

	harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionStalled) == "True" })

	require.Empty(t, companionsIn(t, namespace))
}

func TestOperator_RecreatesDeletedCompanion(t *testing.T) {
	t.Parallel()
	_, vs := injected(t)
	companion := companionsIn(t, vs.Namespace)[0]

	require.NoError(t, world.Client.Delete(t.Context(), &companion))

	harness.Eventually(t, "the restored object", func() bool {
		now := companionsIn(t, vs.Namespace)
		return len(now) == 1 && now[0].UID != companion.UID
	})
}

// The environment of the VectorSidecar overrides the label of the namespace, and the label overrides the operator's
// default.
func TestEnvironment_PrefersVectorSidecarOverNamespace(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		namespaceLabels []string
		environment     string
		want, cpu       string
	}{
		"the operator's default": {nil, "", "development", "50m"},
		"the namespace's label":  {[]string{meta.LabelEnvironment, "production"}, "", "production", "200m"},
		"the VectorSidecar":      {[]string{meta.LabelEnvironment, "production"}, "staging", "staging", "100m"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t, test.namespaceLabels...)
			deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").InEnvironment(test.environment).Build()
			world.Create(t, deployment, vs)

			harness.Until(t, world, deployment, "the sidecar", isInjected)

			require.Equal(t, test.cpu, deployment.Spec.Template.Spec.InitContainers[0].Resources.Requests.Cpu().String())
			harness.Until(t, world, vs, "a status", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.Environment == test.want })
		})
	}
}

// The environment label of a namespace changes. Its workloads get the values of the new environment.
func TestEnvironment_FollowsNamespaceLabel(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: vs.Namespace}}

	harness.Change(t, world, namespace, func(n *corev1.Namespace) { n.Labels[meta.LabelEnvironment] = "production" })

	harness.Until(t, world, deployment, "production's threads", func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.InitContainers[0].Resources.Requests.Cpu().String() == "200m"
	})
}

// Invalid values are reported and leave the injected sidecar unchanged.
func TestInstallation_AppliesChangedValues(t *testing.T) {
	installation := objects.NewConfigMap(options.EnvironmentsConfigMap, options.Namespace, "qa.yaml", "sidecar: {logLevel: trace}")
	world.SetValues(t, installation)
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").InEnvironment("qa").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, deployment, "the team's own environment", func(d *appsv1.Deployment) bool { return logLevel(d) == "trace" })

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data["qa.yaml"] = "sidecar: {logLevel: error}" })
	harness.Until(t, world, deployment, "the change", func(d *appsv1.Deployment) bool { return logLevel(d) == "error" })

	generation := deployment.Generation
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data["qa.yaml"] = "sidecar: {logLevl: warn}" })
	harness.Until(t, world, vs, "an explanation", hasCondition(meta.ConditionConfigValid, metav1.ConditionFalse, "ConfigMap vector-system/environments qa.yaml:1: sidecar.logLevl: unknown key; did you mean logLevel?"))
	world.Get(t, deployment)
	require.Equal(t, generation, deployment.Generation, "the last good state stays")

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data["qa.yaml"] = "sidecar: {logLevel: warn}" })
	harness.Until(t, world, deployment, "the correction", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
}

func logLevel(d *appsv1.Deployment) string {
	for _, c := range d.Spec.Template.Spec.InitContainers {
		for _, variable := range c.Env {
			if variable.Name == "VECTOR_LOG" {
				return variable.Value
			}
		}
	}
	return ""
}

func volumeConfigMaps(d *appsv1.Deployment) []string {
	var names []string
	for _, volume := range d.Spec.Template.Spec.Volumes {
		if volume.ConfigMap != nil {
			names = append(names, volume.ConfigMap.Name)
		}
	}
	return names
}

// replicaSetsWithSidecar counts the revisions of pod templates that carry the
// sidecar.
func replicaSetsWithSidecar(t *testing.T, namespace string) int {
	t.Helper()
	var found appsv1.ReplicaSetList
	require.NoError(t, world.Client.List(t.Context(), &found, client.InNamespace(namespace)))
	n := 0
	for _, set := range found.Items {
		if carries(&appsv1.Deployment{Spec: appsv1.DeploymentSpec{Template: set.Spec.Template}}, "vector") {
			n++
		}
	}
	return n
}

// The operator checks each new content of a ConfigMap. Invalid content is reported and not rolled out.
func TestConfigMapRef_RejectsInvalidContent(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	config := objects.NewConfigMap("vector", namespace, "vector.yaml", objects.VectorConfig("first"))
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("vector", "").Build()
	world.Create(t, config, deployment, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	generation := deployment.Generation

	misspelled := strings.Replace(objects.VectorConfig("second"), "[demo]", "[dmeo]", 1)
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = misspelled })

	harness.Until(t, world, vs, "the finding", func(vs *v1alpha1.VectorSidecar) bool {
		valid := apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionConfigValid)
		return valid != nil && valid.Status == metav1.ConditionFalse && valid.Reason == meta.ReasonInvalidConfig &&
			strings.Contains(valid.Message, "ConfigMap "+namespace+`/vector vector.yaml:9:14: sinks.console.inputs[0]: unknown source, transform or output "dmeo"; did you mean "demo"? (VSC211)`)
	})
	world.Get(t, deployment)
	require.Equal(t, generation, deployment.Generation)

	idle := objects.VectorConfig("third") + "enrichment_tables: {}\n"
	idle = strings.Replace(idle, "sinks:", "  idle:\n    type: internal_logs\nsinks:", 1)
	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = idle })

	harness.Until(t, world, vs, "a warning that does not block writes", func(vs *v1alpha1.VectorSidecar) bool {
		valid := apimeta.FindStatusCondition(vs.Status.Conditions, meta.ConditionConfigValid)
		return isReady(vs) && valid.Status == metav1.ConditionTrue && strings.Contains(valid.Message, "VSC215") && vs.Status.Total().Ready == 1
	})
	world.Get(t, deployment)
	require.Equal(t, generation+1, deployment.Generation)
}
