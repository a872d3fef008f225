// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate_test

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/engine"
)

// BenchmarkExecute renders all templates of the default sidecar chart without any cache of earlier
// renderings: compiled once and executed here, and through Helm's engine, which parses on each
// call.
func BenchmarkExecute(b *testing.B) {
	chart, values := sidecarChart(b)
	b.Run("compiled", func(b *testing.B) {
		set, data := compileChart(b, chart, rootOf(b, chart, values))
		b.ReportAllocs()
		for b.Loop() {
			for _, name := range set.Names() {
				if _, err := set.Execute(b.Context(), name, data); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("helm", func(b *testing.B) {
		root := rootOf(b, chart, values)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := engine.Render(chart, root); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// sidecarChart returns the default chart, with a workload to render it for.
func sidecarChart(t testing.TB) (*chart.Chart, map[string]any) {
	t.Helper()
	folder, err := filepath.Abs("../..")
	require.NoError(t, err)
	loaded := loadChartFiles(t, folder, "Chart.yaml", "values.yaml", "templates")
	values := map[string]any{"environment": "production"}
	maps.Copy(values, map[string]any{"target": map[string]any{
		"kind": "Deployment", "name": "shop", "namespace": "shop", "labels": map[string]any{}, "annotations": map[string]any{},
		"containers": []any{map[string]any{"name": "app", "volumeMounts": []any{}}},
	}})
	return loaded, values
}
