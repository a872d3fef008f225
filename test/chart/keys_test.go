// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"encoding/json"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"
)

// Each key of values.yaml changes the rendered objects, and the API server accepts them.
func TestChart_RendersEveryKeyOfValues(t *testing.T) {
	chart := load(t)
	for _, object := range objects(t, join(render(t, chart, nil))) {
		if object.GetKind() == crdKind {
			createDependencies(t, []*unstructured.Unstructured{object})
		}
	}

	// Keys that need the same values share one rendering.
	rendered := map[string]map[string]string{}
	documented := map[string]bool{}
	for path := range leaves(t, chart) {
		documented[path] = true
		require.Contains(t, other, path, "values.yaml has a key that is not tried here")
	}
	for path, value := range other {
		t.Run(path, func(t *testing.T) {
			require.True(t, documented[path], "values.yaml has no such key")
			var kinds []string
			if path != "monitoring.render" {
				kinds = monitoringKinds
			}
			given := fmt.Sprint(needed(t, path), kinds)
			if rendered[given] == nil {
				rendered[given] = render(t, chart, needed(t, path), kinds...)
			}
			before := rendered[given]
			after := render(t, chart, chartutil.MergeTables(set(t, path, value), needed(t, path)), kinds...)
			// A change of only the notes does not count.
			require.False(t, maps.Equal(without(before, notes), without(after, notes)), "another value changes nothing")
			withAccounts(t, objects(t, join(after)))
			for file, text := range without(after, notes) {
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

// needed returns the values without which a key has no effect. They are listed for the longest known prefix of its
// path.
func needed(t *testing.T, path string) map[string]any {
	t.Helper()
	longest := ""
	for prefix := range needs {
		if strings.HasPrefix(path, prefix) && len(prefix) > len(longest) {
			longest = prefix
		}
	}
	values := map[string]any{}
	require.NoError(t, yaml.Unmarshal([]byte(needs[longest]), &values))
	return values
}

// A user sets a key or section to null, in a values file or by helm upgrade --reuse-values. The chart renders without
// it, or its schema reports the missing key.
func TestChart_AcceptsNullOrRequiresKey(t *testing.T) {
	chart := load(t)
	var top node
	require.NoError(t, json.Unmarshal(chart.Schema, &top))
	walk("", top, func(path string, _ node) {
		if path == "" {
			return
		}
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
	})
}

// monitoringKinds are the kinds of the Prometheus Operator.
var monitoringKinds = []string{"monitoring.coreos.com/v1/ServiceMonitor", "monitoring.coreos.com/v1/PodMonitor", "monitoring.coreos.com/v1/PrometheusRule"}

const notes = "vector-sidecar-operator/templates/NOTES.txt"

func load(t *testing.T) *helmchart.Chart {
	t.Helper()
	chart, err := loader.Load(chartDir)
	require.NoError(t, err)
	return chart
}

// render renders the chart as Helm does, with a check of the schema, for a cluster with additional kinds. The
// result is by file.
func render(t *testing.T, chart *helmchart.Chart, values map[string]any, kinds ...string) map[string]string {
	t.Helper()
	capabilities := chartutil.DefaultCapabilities.Copy()
	capabilities.KubeVersion = chartutil.KubeVersion{Version: "v1.36.0", Major: "1", Minor: "36"}
	capabilities.APIVersions = append(capabilities.APIVersions, kinds...)
	options := chartutil.ReleaseOptions{Name: release, Namespace: namespace, Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(chart, values, options, capabilities)
	require.NoError(t, err)
	files, err := engine.Render(chart, all)
	require.NoError(t, err)
	return files
}

// set returns values with one key, as in a values file.
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
