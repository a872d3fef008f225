// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// restricting is a platform whose policy restricts Vector configurations.
func restricting(t *testing.T, rules string) *desired.Platform {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	platform := desired.NewPlatform(chart, "the test's values", map[string]string{desired.PolicyKey: rules})
	require.NoError(t, platform.PolicyErr)
	return platform
}

// The policy applies to a configuration from each possible source, with and without other errors.
func TestDecide_AppliesPolicyToConfigFromAllSources(t *testing.T) {
	const rules = "vector: {hosts: {allow: ['*.example.com']}}"
	const (
		inYAML = "sources: {app: {type: demo_logs, format: json}}\nsinks: {out: {type: http, inputs: [app], uri: 'https://HOST', encoding: {codec: json}}}\n"
		inJSON = `{"sources": {"app": {"type": "demo_logs", "format": "json"}}, "sinks": {"out": {"type": "http", "inputs": ["app"], "uri": "https://HOST", "encoding": {"codec": "json"}}}}`
		inTOML = "[sources.app]\ntype = \"demo_logs\"\nformat = \"json\"\n[sinks.out]\ntype = \"http\"\ninputs = [\"app\"]\nuri = \"https://HOST\"\nencoding.codec = \"json\"\n"
	)
	config := func(text, host string) string { return strings.ReplaceAll(text, "HOST", host) }
	for name, build := range map[string]func(host string) (*objects.VectorSidecar, *corev1.ConfigMap){
		"YAML": func(host string) (*objects.VectorSidecar, *corev1.ConfigMap) {
			return logs().WithInlineConfig(config(inYAML, host)), nil
		},
		"JSON": func(host string) (*objects.VectorSidecar, *corev1.ConfigMap) {
			return logs().WithInlineConfig(config(inJSON, host)), nil
		},
		"TOML": func(host string) (*objects.VectorSidecar, *corev1.ConfigMap) {
			return logs().WithInlineConfig(config(inTOML, host)), nil
		},
		"data": func(host string) (*objects.VectorSidecar, *corev1.ConfigMap) {
			return logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Config = &v1alpha1.ConfigSpec{Raw: &apiextensionsv1.JSON{Raw: []byte(config(inJSON, host))}}
			}), nil
		},
		"a ConfigMap": func(host string) (*objects.VectorSidecar, *corev1.ConfigMap) {
			return logs().WithConfigMap("shipping", "agent.yaml"), objects.NewConfigMap("shipping", "shop", "agent.yaml", config(inYAML, host))
		},
		"rendered": func(host string) (*objects.VectorSidecar, *corev1.ConfigMap) {
			return logs().Sidecar(func(s *v1alpha1.SidecarSpec) {
				s.Socket = &v1alpha1.SocketSpec{Enabled: new(true)}
				s.Sinks = map[string]apiextensionsv1.JSON{"out": {Raw: []byte(`{"type": "http", "uri": "https://` + host + `"}`)}}
			}), nil
		},
	} {
		for host, isAllowed := range map[string]bool{"logs.example.com": true, "evil.test": false} {
			t.Run(name+" with "+host, func(t *testing.T) {
				sidecar, object := build(host)
				for _, check := range []v1alpha1.ConfigCheck{"", v1alpha1.CheckOff} {
					s := snapshot(t, sidecar.Sidecar(func(s *v1alpha1.SidecarSpec) {
						if s.Config == nil {
							s.Config = &v1alpha1.ConfigSpec{}
						}
						s.Config.Check = check
					}).Build(), cart())
					s.Platform, s.ConfigMaps = restricting(t, rules), only("shipping", object)
					decided := decide(t, s)
					if isAllowed {
						require.Nil(t, decided.Invalid)
						require.Equal(t, plan.Inject, decided.Plans[0].Change)
						continue
					}
					require.NotNil(t, decided.Invalid)
					require.Equal(t, meta.ReasonPolicyViolation, decided.Invalid.Reason)
					require.Contains(t, decided.Invalid.Message, `"https://evil.test" is not allowed: the platform allows *.example.com`)
					require.Contains(t, decided.Invalid.Message, "VSC603")

					s.Platform = restricting(t, "{}")
					require.Nil(t, decide(t, s).Invalid, "where the policy says nothing, nothing changes")
				}
			})
		}
	}
}

// In each case, Vector reads files that the operator cannot check. The policy rejects the configuration.
func TestDecide_RejectsConfigHiddenFromPolicy(t *testing.T) {
	const fine = "sources: {app: {type: demo_logs, format: json}}\nsinks: {out: {type: blackhole, inputs: [app]}}\n"
	mount := func(name, at string) func(*v1alpha1.SidecarSpec) {
		return func(s *v1alpha1.SidecarSpec) {
			s.VolumeMounts = append(s.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: at, SubPath: "vector.yaml"})
		}
	}
	for name, test := range map[string]struct {
		change func(*v1alpha1.SidecarSpec)
		says   string
	}{
		"nothing": {func(*v1alpha1.SidecarSpec) {}, ""},
		"a folder of files": {func(s *v1alpha1.SidecarSpec) {
			s.Args = []string{"--config", "/etc/vector/vector.yaml", "--config-dir", "/more"}
		},
			`container "vector": configuration path "/more" may include files that cannot be checked; name each file (policy.vector)`},
		"another file":       {func(s *v1alpha1.SidecarSpec) { s.Args = []string{"-c", "/more/vector.yaml"} }, "Vector reads neither a rendered nor a referenced configuration, so its content cannot be checked (policy.vector)"},
		"a pattern":          {func(s *v1alpha1.SidecarSpec) { s.Args = []string{"--config", "/etc/vector/*.yaml"} }, `configuration path "/etc/vector/*.yaml" may include files that cannot be checked`},
		"an argument in one": {func(s *v1alpha1.SidecarSpec) { s.Args = []string{"-qc", "/more/vector.yaml"} }, `argument "-qc" may contain several arguments`},
		"a variable that names one": {func(s *v1alpha1.SidecarSpec) {
			s.Env = []corev1.EnvVar{{Name: "VECTOR_CONFIG_DIR", Value: "/more"}}
		}, `configuration path "/more" may include files that cannot be checked`},
		"variables that nobody names": {func(s *v1alpha1.SidecarSpec) {
			s.EnvFrom = []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "s"}}}}
		}, "variables of envFrom may name other configuration and proxies"},
		"something mounted over the file": {mount("vector-own", "/etc/vector/vector.yaml"), "configuration file /etc/vector/vector.yaml cannot be checked"},
		"something mounted over names":    {mount("vector-own", "/etc/hosts"), "mount at /etc/hosts may change the resolution of host names (policy.vector.hosts)"},
		"a proxy": {func(s *v1alpha1.SidecarSpec) {
			s.Env = []corev1.EnvVar{{Name: "https_proxy", Value: "http://evil.test:3128"}}
		}, `the variable https_proxy: "http://evil.test:3128" is not allowed: the platform allows *.example.com (policy.vector.hosts)`},
		"an endpoint": {func(s *v1alpha1.SidecarSpec) {
			s.Env = []corev1.EnvVar{{Name: "AWS_ENDPOINT_URL", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.labels['a']"}}}}
		}, "the variable AWS_ENDPOINT_URL names a host, and its value is not literal (policy.vector.hosts)"},
	} {
		t.Run(name, func(t *testing.T) {
			sidecar := logs().WithInlineConfig(fine).Sidecar(test.change).Build()
			sidecar.Spec.Volumes = []corev1.Volume{{Name: "vector-own", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
			s := snapshot(t, sidecar, cart())
			s.Platform = restricting(t, "vector: {hosts: {allow: ['*.example.com']}}")
			decided := decide(t, s)
			if test.says == "" {
				require.Nil(t, decided.Invalid)
				return
			}
			require.NotNil(t, decided.Invalid)
			require.Equal(t, meta.ReasonPolicyViolation, decided.Invalid.Reason)
			require.Contains(t, decided.Invalid.Message, test.says)
		})
	}
}

// A policy without rules for Vector has the same effect as one without that section.
func TestDecide_IgnoresEmptyVectorPolicy(t *testing.T) {
	empty, err := policy.Parse("values", []byte("vector: {types: {allow: [], deny: []}, options: {allow: [], deny: []}, hosts: {allow: [], deny: []}}"))
	require.NoError(t, err)
	require.Equal(t, policy.Default().ExplicitDigest, empty.ExplicitDigest)

	_, err = policy.Parse("values", []byte("vector: {hosts: {allow: ['https://a.example.com']}}"))
	require.ErrorContains(t, err, "values:1: vector.hosts:")
}
