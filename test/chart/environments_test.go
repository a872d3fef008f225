// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
)

// The plugin reads the same values from a file that Helm renders for the operator.
func TestReadValues_EqualsValuesOfHelm(t *testing.T) {
	files, err := filepath.Glob(root + "/values/*.yaml")
	require.NoError(t, err)
	own := filepath.Join(t.TempDir(), "own.yaml")
	require.NoError(t, os.WriteFile(own, []byte(`environment: staging
global: {imageRegistry: a.example, aggregator: {address: "a:6000"}, storageClass: fast, team: {name: shop, token: secret}, region: eu}
extraGlobals: [region]
templates: {default: {values.yaml: "global: {team: {name: ''}}"}}
sidecar: {config: {inline: "# a comment\n\nsources: {}\n"}, sinks: {store: {type: http, batch: {max_bytes: 100000000}}}, resources: null}
environments:
  gone: null
  bare: {}
  qa: {templateSet: team, sidecar: {logLevel: debug}, global: {imagePullSecrets: [x]}}
policy: {images: {registries: [a.example]}}
rollout: {maxConcurrent: 2%, windows: [{from: "08:00", to: "16:00"}]}
`), 0o600))
	for _, file := range append(files, own) {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var rendered corev1.ConfigMap
			require.NoError(t, yaml.Unmarshal(helm(t, "template", release, chartDir, "-f", file, "--show-only", "templates/configmap-environments.yaml"), &rendered))
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			read, err := desired.ReadInstallationValues(t.Context(), vectorsidecar.FS, file, text, "development")
			require.NoError(t, err)

			require.Equal(t, policyOf(t, rendered.Data), policyOf(t, read.Files()), "helm adds the defaults of the chart")
			require.Equal(t, paceOf(t, rendered.Data), paceOf(t, read.Files()))
			for _, key := range []string{desired.PolicyKey, desired.RolloutKey} {
				delete(rendered.Data, key)
				delete(read.Files(), key)
			}
			require.Equal(t, rendered.Data, read.Files())
		})
	}
}

// policyOf returns a digest of the settings of a policy that differ from the default.
func policyOf(t *testing.T, files map[string]string) string {
	t.Helper()
	read, err := policy.Parse("policy", []byte(files[desired.PolicyKey]))
	require.NoError(t, err)
	return read.ExplicitDigest
}

func paceOf(t *testing.T, files map[string]string) *fleet.Rules {
	t.Helper()
	read, err := fleet.Parse("rollout", []byte(files[desired.RolloutKey]))
	require.NoError(t, err)
	if len(read.Windows) == 0 {
		read.Windows = nil // An empty list is none.
	}
	return read
}

// The chart lists each template set with the digest that the operator computes for its ConfigMap.
func TestFiles_HaveDigestThatChartLists(t *testing.T) {
	values := filepath.Join(t.TempDir(), "values.yaml")
	require.NoError(t, os.WriteFile(values, []byte(`templates:
  default: {_container.tpl: "{{ define \"x\" }}\n  y: <&> é \u2028 \\ \t\n{{ end }}\n", NOTES.txt: "", gone: null, b-c_d.e: " \r\n"}
  gateway: {values__edge.yaml: "sidecar: {}\n"}
  empty: {gone: null}
  removed: null
`), 0o600))
	latin := filepath.Join(t.TempDir(), "latin.tpl")
	require.NoError(t, os.WriteFile(latin, []byte("caf\xe9\x0b\x08\n"), 0o600))
	sets := map[string]string{}
	rendered := helm(t, "template", release, chartDir, "-f", values, "--set-file", `templates.gateway.latin\.tpl=`+latin, "-s", "templates/configmap-templates.yaml")
	for _, text := range strings.Split(string(rendered), "\n---\n") {
		var object corev1.ConfigMap
		require.NoError(t, yaml.Unmarshal([]byte(text), &object))
		sets[object.Name] = fleet.Files{Data: object.Data, BinaryData: object.BinaryData}.Checksum()
	}
	require.Len(t, sets, 3)
	for name, arguments := range map[string][]string{
		"none": nil,
		"all":  {"-f", values, "--set-file", `templates.gateway.latin\.tpl=` + latin},
	} {
		t.Run(name, func(t *testing.T) {
			var object corev1.ConfigMap
			text := helm(t, append([]string{"template", release, chartDir, "-s", "templates/configmap-environments.yaml"}, arguments...)...)
			require.NoError(t, yaml.Unmarshal(text, &object))
			var listed map[string]string
			require.NoError(t, json.Unmarshal([]byte(object.Annotations[meta.AnnotationTemplateSets]), &listed))
			if arguments == nil {
				require.Empty(t, listed)
				return
			}
			require.Equal(t, sets, listed)
		})
	}
}
