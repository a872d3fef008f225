// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

// builder replaces go in PATH: it writes tools instead of building them.
const builder = `#!/bin/sh
case "$*" in
"build -C test/tools/"*)
  while [ "$1" != -o ]; do shift; done
  echo built > "$2" && chmod +x "$2" ;;
*) exec "$GO" "$@" ;;
esac
`

// makeTools runs make in the repository for tools in a folder, and returns its output.
func makeTools(t *testing.T, bin string, args ...string) (string, error) {
	t.Helper()
	path := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(path, "go"), []byte(builder), 0o755))
	program, err := exec.LookPath("go")
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "make", append([]string{"--silent", "--no-print-directory", "BIN=" + bin}, args...)...)
	// The flags of the make that runs the tests, such as -j, do not apply.
	command.Env = append(os.Environ(), "MAKEFLAGS=", "GO="+program, "PATH="+path+string(filepath.ListSeparator)+os.Getenv("PATH"))
	output, err := command.CombinedOutput()
	return string(output), err
}

// A build shows its step, and from the second run on how long the remaining steps took.
func TestDownload_CountsStepsOfBuild(t *testing.T) {
	t.Chdir("../..")
	bin := filepath.Join(t.TempDir(), "bin")
	tools := []string{"TOOLS=build", filepath.Join(bin, "etcd"), filepath.Join(bin, "helm"), filepath.Join(bin, "kind")}

	output, err := makeTools(t, bin, tools...)
	require.NoError(t, err, output)
	require.Equal(t, "step 1 of 3: building etcd\nstep 2 of 3: building helm\nstep 3 of 3: building kind\n", output)

	output, err = makeTools(t, bin, tools...)
	require.NoError(t, err, output)
	require.NotContains(t, output, "step", "all are there")

	require.NoError(t, os.WriteFile(filepath.Join(bin, "step-times.txt"), []byte("helm 100\nkind 30\nhelm 200\n"), 0o600))
	require.NoError(t, os.Remove(filepath.Join(bin, "helm")))
	require.NoError(t, os.Remove(filepath.Join(bin, "kind")))
	output, err = makeTools(t, bin, tools...)
	require.NoError(t, err, output)
	require.Equal(t, "step 1 of 2: building helm; this and the rest took 230 s last time\nstep 2 of 2: building kind; this and the rest took 30 s last time\n", output)
}

// TOOLS=download installs tools with an entry, and builds all others.
func TestDownload_BuildsToolsWithoutEntry(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the entries are for Linux")
	}
	t.Chdir("../..")
	helm, err := vendor{module: "helm.sh/helm/v3", folder: "helm"}.pinnedVersion()
	require.NoError(t, err)
	content := archive(t, "downloaded", "linux/helm")
	url := serve(t, map[string][]byte{"helm.tar.gz": content, "cut-helm.tar.gz": content})
	bin := filepath.Join(t.TempDir(), "bin")
	entries := filepath.Join(t.TempDir(), "downloads.tsv")
	run := func(file, version, digest string) (string, error) {
		made := entry{"helm", version, "linux/" + runtime.GOARCH, url + file, digest}
		require.NoError(t, os.WriteFile(entries, []byte(made.String()+"\n"), 0o600))
		return makeTools(t, bin, "TOOLS=download", "DOWNLOADS="+entries, filepath.Join(bin, "helm"), filepath.Join(bin, "kwok"))
	}
	installed := func() string {
		text, err := os.ReadFile(filepath.Join(bin, "helm"))
		if err != nil {
			require.ErrorIs(t, err, os.ErrNotExist)
		}
		return string(text)
	}

	output, err := run("helm.tar.gz", helm, digest(t, "sha512", nil))
	require.Error(t, err)
	require.Contains(t, output, "expected "+digest(t, "sha512", nil)+"; not installed")
	require.Empty(t, installed())

	output, err = run("cut-helm.tar.gz", helm, digest(t, "sha256", content))
	require.Error(t, err)
	require.Contains(t, output, "unexpected EOF")
	require.Empty(t, installed())

	output, err = run("helm.tar.gz", helm, digest(t, "sha256", content))
	require.NoError(t, err, output)
	require.Equal(t, "downloaded", installed())
	require.Equal(t, "step 1 of 2: getting helm\ndownloaded helm "+helm+": sha256 matches\n"+
		"step 2 of 2: getting kwok\nkwok: no entry, because its vendor publishes no digest; building it\n", output)

	require.NoError(t, os.Remove(filepath.Join(bin, "helm")))
	output, err = run("helm.tar.gz", "v3.0.0", digest(t, "sha256", content))
	require.NoError(t, err, output)
	require.Contains(t, output, "helm "+helm+" for linux/"+runtime.GOARCH+": no entry in "+entries+"; building it\n")
	require.Equal(t, "built\n", installed())
}

// The variable TOOLS of make has two values.
func TestDownload_RejectsOtherValuesOfTools(t *testing.T) {
	t.Chdir("../..")
	output, err := makeTools(t, t.TempDir(), "TOOLS=other", "help")
	require.Error(t, err)
	require.Contains(t, output, "TOOLS is 'other'; set it to build or download")
}
