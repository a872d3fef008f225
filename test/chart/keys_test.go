// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

const digest = "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// other has another valid value for every key of the chart. A key that is added
// to values.yaml is added here.
var other = map[string]string{
	"environment":                       `staging`,
	"templateSet":                       `gateway`,
	"global":                            `{team: shop}`,
	"sidecar":                           `{logLevel: debug}`,
	"initContainers":                    `[{name: init}]`,
	"volumes":                           `[{name: scratch, emptyDir: {}}]`,
	"values":                            `{tier: gold}`,
	"environments":                      `{canary: {sidecar: {logLevel: debug}}}`,
	"templates":                         `{gateway: {NOTES.txt: x}}`,
	"policy.podSecurity":                `baseline`,
	"policy.images.registries":          `[docker.io]`,
	"policy.images.requireTag":          `true`,
	"policy.images.requireDigest":       `true`,
	"policy.volumes.kinds":              `[emptyDir]`,
	"policy.volumes.tokenAudiences":     `[vault]`,
	"policy.volumes.applicationSecrets": `true`,
	"policy.capabilities":               `[CHOWN]`,
	"policy.users.min":                  `1`,
	"policy.users.max":                  `1000`,
	"policy.reservedDomains":            `[example.com]`,
	"policy.overrides.namespaces":       `[sidecar.logLevel]`,
	"policy.overrides.workloads":        `[sidecar.threads]`,
	"replicas":                          `2`,
	"logLevel":                          `WARN`,
	"concurrency":                       `8`,
	"image.registry":                    `registry.example.com:5000`,
	"image.repository":                  `mirror/operator`,
	"image.tag":                         `v9`,
	"image.digest":                      digest,
	"image.pullPolicy":                  `Always`,
	"imagePullSecrets":                  `[{name: registry}]`,
	"nameOverride":                      `shipper`,
	"fullnameOverride":                  `shipper`,
	"crds.enabled":                      `false`,
	"crds.keep":                         `false`,
	"crds.annotations":                  `{example.com/a: b}`,
	"rbac.create":                       `false`,
	"serviceAccount.create":             `false`,
	"serviceAccount.name":               `shipper`,
	"serviceAccount.annotations":        `{example.com/a: b}`,
	"configValidation.job.enabled":      `true`,
	"leaderElection.enabled":            `false`,
	"metrics.enabled":                   `false`,
	"metrics.port":                      `9443`,
	"resources":                         `{requests: {cpu: 1}}`,
	"nodeSelector":                      `{kubernetes.io/os: linux}`,
	"tolerations":                       `[{key: dedicated, operator: Exists}]`,
	"affinity":                          `{nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}`,
	"topologySpreadConstraints":         `[{topologyKey: kubernetes.io/hostname, maxSkew: 1, whenUnsatisfiable: DoNotSchedule}]`,
	"priorityClassName":                 `platform`,
	"podAnnotations":                    `{example.com/a: b}`,
	"podLabels":                         `{example.com/a: b}`,
}

func TestEveryKeyHasAnEffectThatTheServerAccepts(t *testing.T) {
	chart := load(t)
	before := render(t, chart, nil)
	withDefinition(t, objects(t, join(before)))

	documented := map[string]bool{}
	for path := range leaves(t, chart) {
		documented[path] = true
		require.Contains(t, other, path, "values.yaml has a key that is not tried here")
	}
	for path, value := range other {
		t.Run(path, func(t *testing.T) {
			require.True(t, documented[path], "values.yaml has no such key")
			after := render(t, chart, set(t, path, value))
			require.NotEqual(t, before, after)
			// The notes alone would be an effect on nothing.
			delete(after, notes)
			require.NotEqual(t, without(before, notes), after)
			for file, text := range after {
				if text == before[file] {
					continue
				}
				for _, object := range objects(t, []byte(text)) {
					apply(t, object, client.DryRunAll)
				}
			}
		})
	}
}

// null takes a default away, in an installer's file as in the sidecar's values:
// either the chart does without, or its schema says what is missing.
func TestEveryKeyMayBeNullOrIsRequired(t *testing.T) {
	chart := load(t)
	for path := range other {
		t.Run(path, func(t *testing.T) {
			options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, IsInstall: true}
			all, err := chartutil.ToRenderValues(chart, set(t, path, "null"), options, nil)
			if err != nil {
				require.ErrorContains(t, err, "missing property '"+path[strings.LastIndex(path, ".")+1:]+"'")
				return
			}
			_, err = engine.Render(chart, all)
			require.NoError(t, err)
		})
	}
}

const notes = "vector-sidecar-operator/templates/NOTES.txt"

func load(t *testing.T) *helmchart.Chart {
	t.Helper()
	chart, err := loader.Load(chartDir)
	require.NoError(t, err)
	return chart
}

// render renders the chart as helm does, schema and all, by file.
func render(t *testing.T, chart *helmchart.Chart, values map[string]any) map[string]string {
	t.Helper()
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, options, nil)
	require.NoError(t, err)
	files, err := engine.Render(chart, all)
	require.NoError(t, err)
	return files
}

// set is values with one key set, as a values file would.
func set(t *testing.T, path, value string) map[string]any {
	t.Helper()
	var parsed any
	require.NoError(t, yaml.Unmarshal([]byte(value), &parsed))
	values := map[string]any{}
	keys := strings.Split(path, ".")
	at := values
	for _, key := range keys[:len(keys)-1] {
		next := map[string]any{}
		at[key] = next
		at = next
	}
	at[keys[len(keys)-1]] = parsed
	return values
}

func without(files map[string]string, name string) map[string]string {
	rest := maps.Clone(files)
	delete(rest, name)
	return rest
}

func join(files map[string]string) []byte {
	var all strings.Builder
	for name, text := range without(files, notes) {
		if strings.HasSuffix(name, ".yaml") {
			all.WriteString("\n---\n" + text)
		}
	}
	return []byte(all.String())
}
