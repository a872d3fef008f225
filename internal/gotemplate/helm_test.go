// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// loadChart loads a chart from a folder with Helm's loader.
func loadChart(t testing.TB, folder string) *chart.Chart {
	t.Helper()
	loaded, err := loader.Load(folder)
	require.NoError(t, err)
	return loaded
}

// loadChartFiles loads only some files and folders of a chart.
func loadChartFiles(t testing.TB, folder string, names ...string) *chart.Chart {
	t.Helper()
	var files []*loader.BufferedFile
	for _, name := range names {
		err := fs.WalkDir(os.DirFS(folder), name, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			text, err := os.ReadFile(filepath.Join(folder, path))
			files = append(files, &loader.BufferedFile{Name: path, Data: text})
			return err
		})
		require.NoError(t, err)
	}
	loaded, err := loader.LoadFiles(files)
	require.NoError(t, err)
	return loaded
}

// rootOf returns the data that Helm passes to the templates of a chart, without files.
func rootOf(t testing.TB, chart *chart.Chart, values map[string]any) chartutil.Values {
	t.Helper()
	root, err := chartutil.ToRenderValues(chart, values,
		chartutil.ReleaseOptions{Name: "logs", Namespace: "shop", Revision: 1, IsInstall: true}, chartutil.DefaultCapabilities)
	require.NoError(t, err)
	return root
}

// compileChart compiles a chart with this package: its templates under Helm's names, its data, and
// its other files.
func compileChart(t testing.TB, chart *chart.Chart, root chartutil.Values) (*gotemplate.Set, map[string]any) {
	t.Helper()
	texts := map[string]string{}
	for _, file := range chart.Templates {
		texts[chart.Name()+"/"+file.Name] = string(file.Data)
	}
	set, err := gotemplate.Compile(texts, gotemplate.Options{Methods: []gotemplate.Method{
		{Name: "Copy", Func: (*chartutil.Capabilities).Copy},
		{Name: "Has", Func: chartutil.VersionSet.Has},
		{Name: "String", Func: (*chartutil.KubeVersion).String},
		{Name: "GitVersion", Func: (*chartutil.KubeVersion).GitVersion}, //nolint:staticcheck // old charts call it
	}})
	require.NoError(t, err)
	files := gotemplate.Files{}
	for _, file := range chart.Files {
		files[file.Name] = file.Data
	}
	data := maps.Clone(root)
	data["Files"] = files
	data["Chart"] = chart.Metadata
	return set, data
}

// requireSame renders a chart with both engines and compares the bytes.
func requireSame(t *testing.T, chart *chart.Chart, values map[string]any) {
	t.Helper()
	theirs, err := engine.Render(chart, rootOf(t, chart, values))
	require.NoError(t, err)
	set, data := compileChart(t, chart, rootOf(t, chart, values))
	for _, name := range set.Names() {
		ours, err := set.Execute(context.Background(), name, data)
		require.NoError(t, err, name)
		require.Equal(t, theirs[name], ours, "%s: Helm's engine is the reference", name)
	}
}

// Each file in testdata/ordinary is rendered in its own chart. The result is that of Helm.
func TestExecute_RendersOrdinaryTemplatesAsHelm(t *testing.T) {
	base := loadChart(t, "testdata/chart")
	files, err := filepath.Glob("testdata/ordinary/*.yaml")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 25)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			one := *base
			one.Templates = append([]*chart.File{{Name: "templates/" + filepath.Base(file), Data: text}}, base.Templates...)
			requireSame(t, &one, nil)
		})
	}
}

// The built-in sidecar chart is rendered as by Helm.
func TestExecute_RendersSidecarChartAsHelm(t *testing.T) {
	chart, values := sidecarChart(t)
	requireSame(t, chart, values)
}
