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

// A pipeline must not take a mistyped path for a clean one.
func TestFilesOfWhichNoneIsLintedAreAnError(t *testing.T) {
	root := t.TempDir()
	require.NoError(t, os.Mkdir(root+"/other", 0o700))
	for name, text := range map[string]string{"/other/compose.yaml": "services: {}\n", "/README.md": "# Shop\n", "/logs.yaml": shopFiles(t)["logs.yaml"]} {
		require.NoError(t, os.WriteFile(root+name, []byte(text), 0o600))
	}
	for _, arguments := range [][]string{{root + "/README.md"}, {root + "/other"}, {root + "/other/compose.yaml", root + "/README.md"}, {root + "/other", "-o", "json"}} {
		out, err := run(t, nil, append([]string{"lint"}, arguments...)...)
		require.EqualError(t, err, "no file was checked: name files with objects, values or Vector configuration", out)
		require.NotErrorAs(t, err, new(*foundError))
		require.Contains(t, out, arguments[0], "what was skipped is named")
	}
	out, err := run(t, nil, "lint", root+"/README.md", root+"/logs.yaml")
	require.NoError(t, err, "one of many may be skipped, as with a glob: %s", out)
}
