// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

const adminConf = `apiVersion: v1
kind: Config
clusters: [{name: kubernetes, cluster: {
  server: https://127.0.0.1:6443
}}]
users: [{name: kubernetes-admin, user: {}}]
contexts: [{name: kubernetes-admin@kubernetes, context: {cluster: kubernetes, user: kubernetes-admin}}]
`

// engine is a folder with the stand-in for docker, kind, a kubeconfig and an image archive.
type engine string

func newEngine(t *testing.T) engine {
	t.Helper()
	folder := t.TempDir()
	kind, err := controlplane.Bin("kind")
	require.NoError(t, err)
	require.NoError(t, os.Symlink(kind, filepath.Join(folder, "kind")))
	docker, err := filepath.Abs("testdata/docker")
	require.NoError(t, err)
	text, err := os.ReadFile(docker)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(folder, "docker"), text, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "admin.conf"), []byte(adminConf), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "images.tar"), []byte("the images"), 0o600))
	return engine(folder)
}

// read returns the text of a file.
func (e engine) read(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(string(e), name))
	require.NoError(t, err)
	return string(text)
}

// run runs a target, without a new build of kind and of the images, and returns what it prints.
func (e engine) run(t *testing.T, target string) string {
	t.Helper()
	printed, err := runMake(t, string(e)+string(filepath.ListSeparator)+os.Getenv("PATH"),
		"BIN="+string(e), "--old-file=image", "--old-file="+filepath.Join(string(e), "kind"), target)
	require.NoError(t, err, printed)
	return printed
}

// runMake runs make in the root of the repository, without the settings of the make that runs this test.
func runMake(t *testing.T, path string, args ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", append([]string{"--no-print-directory"}, args...)...)
	command.Dir = "../.."
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "MAKE") && !strings.HasPrefix(variable, "MFLAGS=") {
			command.Env = append(command.Env, variable)
		}
	}
	command.Env = append(command.Env, "PATH="+path, "KUBECONFIG="+filepath.Join(filepath.SplitList(path)[0], "kubeconfig"))
	printed, err := command.CombinedOutput()
	return string(printed), err
}

// kind runs with a stand-in for docker, from the creation of its cluster to the deletion.
func TestImageArchive_LoadsIntoKind(t *testing.T) {
	e := newEngine(t)
	require.Contains(t, e.run(t, "kind-up"), `Set kubectl context to "kind-vso"`)
	require.Regexp(t, `(?m)^run --name vso-control-plane .* kindest/node:v[\d.]+@sha256:[0-9a-f]{64}$`, e.read(t, "calls"))
	require.Contains(t, e.read(t, "kubeconfig"), "current-context: kind-vso\n")

	e.run(t, "kind-load")
	loaded := regexp.MustCompile(`(?m)^exec --privileged -i vso-control-plane ctr --namespace=k8s\.io (images import .*)$`).FindStringSubmatch(e.read(t, "calls"))
	require.NotNil(t, loaded, e.read(t, "calls"))
	require.Equal(t, "the images", e.read(t, "imported"))
	// The tests on a real node import with the same arguments.
	node, err := os.ReadFile("../node/image.go")
	require.NoError(t, err)
	require.Contains(t, string(node), `"`+strings.ReplaceAll(loaded[1], " ", `", "`)+`"`)

	e.run(t, "kind-down")
	require.Contains(t, e.read(t, "calls"), "\nrm -f -v vso-control-plane\n")
	require.NotContains(t, e.read(t, "kubeconfig"), "kind-vso")
}

func TestImageArchive_LoadsIntoDocker(t *testing.T) {
	e := newEngine(t)
	e.run(t, "docker-build")
	require.Equal(t, "load --input="+filepath.Join(string(e), "images.tar")+"\n", e.read(t, "calls"))
}

// The default name of the images is that of the released ones, so a push needs another name.
func TestImageArchive_PushesOnlyToGivenName(t *testing.T) {
	path := t.TempDir() + string(filepath.ListSeparator) + os.Getenv("PATH")
	printed, err := runMake(t, path, "image", "PUSH=true")
	require.Error(t, err)
	require.Contains(t, printed, "pushing the images: IMAGE is not set; set IMAGE to a repository in your registry")

	for _, args := range [][]string{nil, {"PUSH=false"}, {"PUSH=true", "IMAGE=registry.example.com/you/operator"}} {
		printed, err = runMake(t, path, append(args, "image-name")...)
		require.NoError(t, err, printed)
	}
}

// PATH has only programs that the Makefile itself runs.
func TestImageArchive_NamesMissingEngine(t *testing.T) {
	folder := t.TempDir()
	for _, program := range []string{"awk", "grep"} {
		path, err := exec.LookPath(program)
		require.NoError(t, err)
		require.NoError(t, os.Symlink(path, filepath.Join(folder, program)))
	}
	for _, target := range []string{"docker-build", "kind-up", "kind-load", "kind-down"} {
		printed, err := runMake(t, folder, target)
		require.Error(t, err)
		require.Contains(t, printed, "no docker, nerdctl or podman in PATH; install Docker (https://", target)
	}
}
