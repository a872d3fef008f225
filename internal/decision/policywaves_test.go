// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A revision with another policy has not started for a VectorSidecar. Until then, both policies apply to it, so the
// stricter rule decides.
func TestDecide_AppliesBothPoliciesUntilWaveStarts(t *testing.T) {
	const config = "sources: {app: {type: demo_logs, format: json}}\nsinks: {out: {type: http, inputs: [app], uri: 'https://logs.example', encoding: {codec: json}}}\n"
	for name, test := range map[string]struct {
		loose, strict string
		snapshot      func() *Snapshot
	}{
		"what is injected": {"", "images: {registries: [registry.example]}", func() *Snapshot { return snapshot(t, logs().Build(), cart()) }},
		"the configuration": {"", "vector: {hosts: {allow: [other.example]}}", func() *Snapshot {
			return snapshot(t, logs().WithInlineConfig(config).Build(), cart())
		}},
		"the configuration without a workload": {"", "vector: {hosts: {allow: [other.example]}}", func() *Snapshot {
			return snapshot(t, logs().WithInlineConfig(config).Build())
		}},
		"a namespace's values": {overrides, "", func() *Snapshot {
			s := snapshot(t, logs().Build(), cart())
			s.ConfigMaps = only(meta.NamespaceDefaults, objects.NewConfigMap(meta.NamespaceDefaults, "shop", meta.NamespaceDefaultsKey, "sidecar: {logLevel: debug}"))
			return s
		}},
		"a workload's values": {overrides, "", func() *Snapshot {
			return snapshot(t, logs().Build(), objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Annotated(override("sidecar.threads"), "2").Build())
		}},
		"the application's secrets": {"volumes: {applicationSecrets: true}", "", func() *Snapshot {
			app := objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Pod(func(pod *corev1.PodSpec) {
				pod.Volumes = []corev1.Volume{{Name: "keys", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "keys"}}}}
			}).Build()
			return snapshot(t, logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.VolumeMounts = []corev1.VolumeMount{{Name: "keys", MountPath: "/keys"}}
			}).Build(), app)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			under := func(then, now string) (refusal string) {
				s := test.snapshot()
				s.Platform = given(t, map[string]string{desired.PolicyKey: then}, nil).WithCurrent(given(t, map[string]string{desired.PolicyKey: now}, nil))
				decided := decide(t, s)
				if decided.Invalid != nil {
					return decided.Invalid.Message
				}
				for _, one := range decided.Plans {
					if !one.HasChange(plan.Inject) {
						return one.Message()
					}
				}
				return ""
			}
			require.Empty(t, under(test.loose, test.loose))
			tightened, loosened := under(test.loose, test.strict), under(test.strict, test.loose)
			require.NotEmpty(t, tightened)
			require.NotContains(t, tightened, "revision")
			require.Contains(t, loosened, tightened+"\nrejected by the policy of revision ")
		})
	}
}
