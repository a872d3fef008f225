// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// The values of a chart are not those of an installation, however the folder is spelled.
func TestAChartIsLintedByAnyOfItsPaths(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.CopyFS(root+"/chart", vectorsidecar.FS))
	require.NoError(t, os.Symlink("chart", root+"/link"))
	for _, path := range []string{"/chart", "/chart/", "/./chart", "/link/", "/chart/../chart", "/chart/values.yaml"} {
		out, err := run(t, nil, "lint", root+path)
		require.NoError(t, err, path+": "+out)
	}
	out, err := run(t, nil, "lint", root+"/chart/")
	require.NoError(t, err, out)
	require.Contains(t, out, "4 files checked")
}

func TestAFolderWithNothingToLintIsAnError(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/empty", 0o700))
	require.NoError(t, os.WriteFile(root+"/logs.yaml", []byte(shopFiles(t)["logs.yaml"]), 0o600))
	_, err := run(t, nil, "lint", root+"/logs.yaml", root+"/empty")
	require.EqualError(t, err, "there is nothing to lint in "+root+"/empty: recognized file extensions are .yaml, .yml, .json, .toml")
	require.NotErrorAs(t, err, new(*foundError))
}
