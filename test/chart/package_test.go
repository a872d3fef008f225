// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package chart

import (
	"io"
	"log"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/stretchr/testify/require"
	helmchart "helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
)

// A chart that is pushed to a registry can be pulled unchanged and installed.
func TestChart_InstallsFromRegistry(t *testing.T) {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	folder := t.TempDir()
	version := load(t).Metadata.Version
	reference := "oci://" + strings.TrimPrefix(server.URL, "http://") + "/charts"

	helm(t, "package", chartDir, "--destination", folder)
	archive := filepath.Join(folder, "vector-sidecar-operator-"+version+".tgz")
	helm(t, "push", archive, reference, "--plain-http")

	packaged, err := loader.LoadFile(archive)
	require.NoError(t, err)
	var names []string
	for _, file := range packaged.Raw {
		names = append(names, file.Name)
		require.False(t, strings.HasPrefix(file.Name, "tests/") || strings.HasPrefix(file.Name, "ci/"), "%s is of no use to an installer", file.Name)
	}
	for _, file := range []string{"values.schema.json", "files/crds/" + crdFile, "README.md", "LICENSE", "icon.svg", "values/production.yaml", "files/alerts/operator.yaml", "files/dashboards/operator.json", "templates/tests/pod.yaml"} {
		require.Contains(t, names, file)
	}
	fetched := helm(t, "template", release, reference+"/vector-sidecar-operator", "--version", version, "--plain-http", "-n", namespace)
	require.Equal(t, string(helm(t, "template", release, chartDir, "-n", namespace)), string(fetched))
}

// Another chart has this one as a dependency with a condition. The values then contain the key of the condition and the
// global values, and the chart accepts them.
func TestChart_InstallsAsConditionalDependency(t *testing.T) {
	chart := load(t)
	name := chart.Name()
	platform := &helmchart.Chart{Metadata: &helmchart.Metadata{
		APIVersion: "v2", Name: "platform", Version: "1.0.0",
		Dependencies: []*helmchart.Dependency{{Name: name, Version: chart.Metadata.Version, Condition: name + ".enabled"}},
	}}
	platform.SetDependencies(chart)
	values := map[string]any{name: map[string]any{"enabled": true}, "global": map[string]any{"storageClass": "fast"}}

	require.NoError(t, chartutil.ProcessDependencies(platform, values))
	all, err := chartutil.ToRenderValues(platform, values, chartutil.ReleaseOptions{Name: release, Namespace: namespace}, nil)
	require.NoError(t, err)
	files, err := engine.Render(platform, all)
	require.NoError(t, err)
	require.Contains(t, files["platform/charts/"+name+"/templates/deployment.yaml"], "kind: Deployment")
	require.NotContains(t, files["platform/charts/"+name+"/templates/NOTES.txt"], "no effect on a subchart")

	// The umbrella chart's global labels and environment do not apply to the subchart.
	values["global"] = map[string]any{"environment": "Any Text", "labels": []any{"MARKER"}}
	all, err = chartutil.ToRenderValues(platform, values, chartutil.ReleaseOptions{Name: release, Namespace: namespace}, nil)
	require.NoError(t, err)
	files, err = engine.Render(platform, all)
	require.NoError(t, err)
	require.Contains(t, files["platform/charts/"+name+"/templates/deployment.yaml"], "--environment=development")
	for file, text := range files {
		require.NotContains(t, text, "MARKER", file)
	}
	require.Contains(t, files["platform/charts/"+name+"/templates/NOTES.txt"],
		"WARNING: global.environment, global.labels have no effect on a subchart: set environment, commonLabels and commonAnnotations of "+name)
}
