// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var full = flag.Bool("full", false, "make a release in two clones, for some minutes")

// run runs a program in a folder, and returns its output.
func run(t *testing.T, folder, program string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	return string(output), err
}

// chartVersion returns the version of the chart.
func chartVersion(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("../../chart/Chart.yaml")
	require.NoError(t, err)
	match := regexp.MustCompile(`(?m)^version: (\S+)$`).FindSubmatch(text)
	require.NotNil(t, match)
	return string(match[1])
}

// Clones of a commit in folders of different length make equal releases, with all files.
func TestRelease_IsEqualInTwoClones(t *testing.T) {
	if !*full {
		t.Skip("it takes minutes; make test-release runs it")
	}
	version := chartVersion(t)
	var sums [2]string
	for i, name := range []string{"a", "another-folder"} {
		clone := filepath.Join(t.TempDir(), name)
		output, err := run(t, "../..", "git", "clone", "--quiet", "--no-hardlinks", ".", clone)
		require.NoError(t, err, output)
		output, err = run(t, clone, "make", "--no-print-directory", "release", "VERSION="+version, "DRY_RUN=1", "TOOLS=build")
		require.NoError(t, err, output)
		text, err := os.ReadFile(filepath.Join(clone, "bin", "release", sumsFile))
		require.NoError(t, err)
		sums[i] = string(text)
	}
	t.Log(sums[0])
	require.Equal(t, sums[0], sums[1])
	for _, file := range []string{
		"images.tar", "operator-linux-amd64.spdx.json", "operator-linux-arm64.spdx.json", "drain-gate-linux-amd64.spdx.json", "drain-gate-linux-arm64.spdx.json",
		"vector-sidecar-operator-" + version + ".tgz", "install.yaml", notesFile, "vectorsidecar.yaml", "provenance.intoto.json",
		"kubectl-vectorsidecar-linux-amd64.tar.gz", "kubectl-vectorsidecar-windows-amd64.tar.gz",
	} {
		require.Contains(t, sums[0], "  "+file+"\n")
	}
}

// Another version of Go builds other programs, so go.mod names the version with its patch.
func TestRelease_PinsToolchain(t *testing.T) {
	text, err := os.ReadFile("../../go.mod")
	require.NoError(t, err)
	require.Regexp(t, `(?m)^toolchain go\d+\.\d+\.\d+$`, string(text))
}

// A release has the version of the chart, and pushes only what a tag names.
func TestRelease_RequiresVersionAndTag(t *testing.T) {
	version := chartVersion(t)
	output, err := run(t, "../..", "make", "release-version", "VERSION=9.9.9", "DRY_RUN=1")
	require.Error(t, err)
	require.Contains(t, output, "releasing 9.9.9: chart/Chart.yaml has version "+version)

	output, err = run(t, "../..", "make", "release-version", "VERSION="+version, "DRY_RUN=1")
	require.NoError(t, err, output)

	clone := t.TempDir()
	output, err = run(t, "../..", "git", "clone", "--quiet", "--no-tags", ".", clone)
	require.NoError(t, err, output)
	output, err = run(t, clone, "make", "release-version", "VERSION="+version)
	require.Error(t, err)
	require.Contains(t, output, "the tree is not the commit with the tag v"+version)
	output, err = run(t, clone, "git", "tag", "v"+version)
	require.NoError(t, err, output)
	output, err = run(t, clone, "make", "release-version", "VERSION="+version)
	require.NoError(t, err, output)
	require.NotContains(t, strings.ToLower(output), "releasing")
}
