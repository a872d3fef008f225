// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

// Helm 4 installs the plugin from its release archive, and renders with it. Two builds of the archive are equal.
func TestCLI_RendersInHelm4FromArchive(t *testing.T) {
	t.Parallel()
	name := "kubectl-vectorsidecar-" + runtime.GOOS + "-" + runtime.GOARCH
	first, second := packPlugin(t, name), packPlugin(t, name)
	text, err := os.ReadFile(first)
	require.NoError(t, err)
	again, err := os.ReadFile(second)
	require.NoError(t, err)
	require.True(t, bytes.Equal(text, again), "both builds are equal")
	require.Equal(t, []string{name + "/LICENSE", name + "/kubectl-vectorsidecar", name + "/plugin.yaml"}, archivedFiles(t, text))

	home := t.TempDir()
	helm := func(args ...string) string {
		bin, err := controlplane.Bin("helm4")
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), bin, args...)
		cmd.Dir = root
		// Without a PATH, the plugin finds no other program.
		cmd.Env = []string{"HOME=" + home, "HELM_CACHE_HOME=" + home, "HELM_CONFIG_HOME=" + home, "HELM_DATA_HOME=" + home}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "helm4 %v\n%s", args, out)
		return string(out)
	}
	helm("plugin", "install", "--verify=false", first) // Helm verifies only signatures by PGP keys.
	require.Contains(t, helm("plugin", "list"), "vectorsidecar")
	require.Contains(t, helm("template", "shop", writeShop(t), "--namespace", "shop", "--post-renderer", "vectorsidecar", "--post-renderer-args", "--sidecar=docs/samples/02-logs.yaml", "--post-renderer-args", "--label=logs=vector"),
		"name: vectorsidecar-vector-config")
}

// packPlugin packs the archive of a name for this machine, and returns its path.
func packPlugin(t *testing.T, name string) string {
	t.Helper()
	bin := t.TempDir()
	cmd := exec.CommandContext(t.Context(), "make", "-s", "-C", root, "plugin-archives", "BIN="+bin, "PLUGIN_PLATFORMS="+runtime.GOOS+"/"+runtime.GOARCH)
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	return filepath.Join(bin, "plugin", name+".tar.gz")
}

// archivedFiles returns the names of the files in an archive, sorted.
func archivedFiles(t *testing.T, archive []byte) []string {
	t.Helper()
	uncompressed, err := gzip.NewReader(bytes.NewReader(archive))
	require.NoError(t, err)
	require.Empty(t, uncompressed.Name)
	var names []string
	for files := tar.NewReader(uncompressed); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			slices.Sort(names)
			return names
		}
		require.NoError(t, err)
		names = append(names, header.Name)
	}
}

// writeShop writes a chart of the sample application, and returns its directory.
func writeShop(t *testing.T) string {
	t.Helper()
	chart := t.TempDir()
	deployment, err := os.ReadFile(filepath.Join(root, "docs", "samples", "app", "deployment.yaml"))
	require.NoError(t, err)
	require.NoError(t, os.MkdirAll(filepath.Join(chart, "templates"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(chart, "Chart.yaml"), []byte("apiVersion: v2\nname: shop\nversion: 1.0.0\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(chart, "templates", "deployment.yaml"), deployment, 0o600))
	return chart
}
