// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package predecessor has the built-in chart as releases rendered it that noted nothing in
// workloads of what they were asked for.
package predecessor

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chartutil"
	"sigs.k8s.io/yaml"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/environment"
)

// Chart is that chart: .Values.predecessor counts in its templates, and its values are
// those of then.
func Chart(t testing.TB) fs.FS {
	t.Helper()
	chart := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(vectorsidecar.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := vectorsidecar.FS.ReadFile(name)
		chart[name] = &fstest.MapFile{Data: bytes.ReplaceAll(text, []byte(".Values.predecessor"), []byte("true"))}
		return err
	}))
	layValues(t, chart)
	return chart
}

// layValues has the values of a chart say what they said in those releases.
func layValues(t testing.TB, chart fstest.MapFS) {
	t.Helper()
	var said struct {
		Values       map[string]any
		Environments map[string]map[string]any
	}
	require.NoError(t, yaml.UnmarshalStrict(chart[environment.PredecessorFile].Data, &said))
	delete(chart, environment.PredecessorFile)
	lay := func(file string, merge func(now map[string]any) map[string]any) {
		var now map[string]any
		require.NoError(t, yaml.Unmarshal(chart[file].Data, &now))
		text, err := yaml.Marshal(merge(now))
		require.NoError(t, err)
		chart[file].Data = text
	}
	lay("values.yaml", func(now map[string]any) map[string]any { return chartutil.CoalesceTables(said.Values, now) })
	for name, values := range said.Environments {
		lay("values/"+name+".yaml", func(now map[string]any) map[string]any { return chartutil.CoalesceTables(now, values) })
	}
}
