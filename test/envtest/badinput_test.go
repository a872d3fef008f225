// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Invalid input that the API server accepts is reported in a condition, with its path and the fix. The operator writes
// no workload.
func TestVectorSidecar_ReportsBadInputWithoutWrites(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		deployment func(*objects.Deployment) *objects.Deployment
		sidecar    func(*objects.VectorSidecar) *objects.VectorSidecar
		reason     string
		names      []string
	}{
		"an environment without values": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.InEnvironment("prodction") },
			reason:  meta.ReasonUnknownEnvironment,
			names:   []string{`environment "prodction"`, "development, production, staging", `did you mean "production"?`},
		},
		"a ConfigMap that is missing": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("absent", "") },
			reason:  meta.ReasonConfigMapNotFound,
			names:   []string{"/absent does not exist", "sidecar.config.configMapRef.name"},
		},
		"a key that is missing": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("present", "other.yaml") },
			reason:  meta.ReasonConfigMapNotFound,
			names:   []string{`/present has no key "other.yaml"`, "existing keys: broken.yaml, notes"},
		},
		"a key without an extension": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithConfigMap("present", "notes") },
			reason:  meta.ReasonInvalidValues,
			names:   []string{"sidecar.config.configMapRef.key"},
		},
		"a configuration that is no YAML": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.WithConfigMap("present", "broken.yaml")
			},
			reason: meta.ReasonInvalidConfig,
			names:  []string{"/present broken.yaml:2:", "VSC101"},
		},
		"an inline configuration without a sink": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.WithInlineConfig("sources: {in: {type: stdin}}")
			},
			reason: meta.ReasonInvalidConfig,
			names:  []string{"spec.sidecar.config.inline:1:1: sinks is empty"},
		},
		"a folder of logs that no container shares": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithLogs("/var/log/app") },
			reason:  meta.ReasonInvalidTemplate,
			names:   []string{"sidecar.logs.path is /var/log/app", "no container of Deployment", "/cart mounts a volume there", "_volumes.tpl"},
		},
		"a request above its limit": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Sidecar(func(s *v1alpha1.SidecarSpec) {
					s.Resources = &corev1.ResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("1Gi")}}
				})
			},
			reason: meta.ReasonInvalidSidecar,
			names:  []string{"template.spec.initContainers[0].resources", "the request of resource memory is 1Gi, which is above its limit 128Mi"},
		},
		"a volume on the node": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Volumes(corev1.Volume{Name: "host", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}})
			},
			reason: meta.ReasonPolicyViolation,
			names:  []string{"template.spec.volumes[2].hostPath", `"host"`},
		},
		"a volume of a CSI driver": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Volumes(corev1.Volume{Name: "store", VolumeSource: corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{Driver: "secrets-store.csi.k8s.io"}}})
			},
			reason: meta.ReasonPolicyViolation,
			names:  []string{"template.spec.volumes[2].csi.driver", "secrets-store.csi.k8s.io", "volumes.csiDrivers"},
		},
		"a Secret of the application's": {
			deployment: func(b *objects.Deployment) *objects.Deployment {
				return b.Pod(func(pod *corev1.PodSpec) {
					pod.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "registry"}}
				})
			},
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Volumes(corev1.Volume{Name: "pull", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "registry"}}})
			},
			reason: meta.ReasonPolicyViolation,
			names:  []string{"template.spec.volumes[2].secret", `the application uses the Secret "registry", too`, "volumes.applicationSecrets"},
		},
		"a volume without a source": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Volumes(corev1.Volume{Name: "nothing"})
			},
			reason: meta.ReasonInvalidSidecar,
			names:  []string{`"nothing" has no source`},
		},
		"a mount without its volume": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Sidecar(func(s *v1alpha1.SidecarSpec) {
					s.VolumeMounts = []corev1.VolumeMount{{Name: "nowhere", MountPath: "/x"}}
				})
			},
			reason: meta.ReasonBlocked,
			names:  []string{`mounts a volume "nowhere" at /x`},
		},
		"the name of an application's container": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.Named("app") },
			reason:  meta.ReasonConflict,
			names:   []string{"Deployment", `/cart: the workload already has a container "app"`, "spec.sidecar.name"},
		},
		"the name of an application's volume": {
			deployment: func(b *objects.Deployment) *objects.Deployment { return b.WithEmptyDir("spool", "/spool") },
			sidecar:    func(b *objects.VectorSidecar) *objects.VectorSidecar { return b.WithEmptyDir("spool", "/spool") },
			reason:     meta.ReasonConflict,
			names:      []string{`the workload already has a volume "spool"`},
		},
		"a port of the application's": {
			deployment: func(b *objects.Deployment) *objects.Deployment { return b.WithPort(9598) },
			sidecar:    func(b *objects.VectorSidecar) *objects.VectorSidecar { return b },
			reason:     meta.ReasonBlocked,
			names:      []string{`port 9598 of container "vector" is already used by container "app"`},
		},
		"a sidecar that collects nothing": {
			sidecar: func(b *objects.VectorSidecar) *objects.VectorSidecar {
				return b.Sidecar(func(s *v1alpha1.SidecarSpec) { s.Metrics = &v1alpha1.MetricsSpec{Enabled: new(bool)} })
			},
			reason: meta.ReasonInvalidTemplate,
			names:  []string{"the sidecar would collect no data", "sidecar.otlp.enabled"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			namespace := world.Namespace(t)
			config := objects.NewConfigMap("present", namespace, "broken.yaml", "sources:\n\t- x\n")
			config.Data["notes"] = "none"
			builder := objects.NewDeployment("cart", namespace).Labeled("logs", "vector")
			if test.deployment != nil {
				builder = test.deployment(builder)
			}
			deployment := builder.Build()
			world.Create(t, config, deployment)
			before := rawTemplate(t, deployment)
			vs := test.sidecar(objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector")).Build()
			world.Create(t, vs)

			harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool {
				return condition(vs, meta.ConditionReady) == "False" && condition(vs, meta.ConditionStalled) == "True"
			})

			text := message(vs, meta.ConditionReady)
			require.Contains(t, text, test.reason+": ")
			for _, part := range test.names {
				require.Contains(t, text, part)
			}
			require.Equal(t, "True", condition(vs, meta.ConditionError))
			switch name {
			case "an environment without values":
				requireRecorded(t, "unknown-environment", vs, "Stalled=True UnknownEnvironment")
			case "the name of an application's container":
				requireRecorded(t, "conflict", vs, "Stalled=True Conflict")
			}
			require.Equal(t, before, rawTemplate(t, deployment))
			require.Empty(t, running.Requests.Writes("/namespaces/"+namespace+"/deployments"))
		})
	}
}

// A referenced ConfigMap does not exist yet. The sidecar is injected after it is created.
func TestConfigMapRef_UsesConfigMapCreatedLater(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	deployment := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("late", "").Build()
	world.Create(t, deployment, vs)
	harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionStalled) == "True" })

	world.Create(t, objects.NewConfigMap("late", namespace, "vector.yaml", objects.VectorConfig("x")))

	harness.Until(t, world, deployment, "the sidecar", isInjected)
}

// An unknown environment leaves the injected sidecar unchanged, and a deletion still removes it.
func TestVectorSidecar_KeepsSidecarAfterInvalidChange(t *testing.T) {
	t.Parallel()
	deployment, vs := injected(t)
	before := rawTemplate(t, deployment)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Environment = "nowhere" })
	harness.Until(t, world, vs, "a result in the status", func(vs *v1alpha1.VectorSidecar) bool { return condition(vs, meta.ConditionConfigValid) == "False" })

	require.Equal(t, before, rawTemplate(t, deployment))
	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, deployment, "removal, which needs no rendering", isClean)
}
