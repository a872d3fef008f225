// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/stretchr/testify/require"
)

// made returns a completed release whose archives have their names as content, and the digest of its image.
func made(t *testing.T) (r *release, image string) {
	t.Helper()
	t.Chdir("../..")
	content, err := random.Image(16, 1)
	require.NoError(t, err)
	folder := t.TempDir()
	path, err := layout.Write(folder, empty.Index)
	require.NoError(t, err)
	require.NoError(t, path.AppendImage(content))
	digest, err := content.Digest()
	require.NoError(t, err)

	r = &release{version: "0.1.0", commit: strings.Repeat("ab", 20), folder: t.TempDir(), images: []string{"registry.example/operator=" + folder}}
	for _, platform := range []string{"linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64", "windows-amd64"} {
		name := "kubectl-vectorsidecar-" + platform + ".tar.gz"
		require.NoError(t, r.write(name, name))
	}
	require.NoError(t, r.complete())
	return r, digest.Hex
}

func read(t *testing.T, r *release, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(r.folder, name))
	require.NoError(t, err)
	return string(text)
}

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// Each file has its digest in SHA256SUMS, and the archives in the manifest for krew have theirs.
func TestRelease_HasDigestOfEachFile(t *testing.T) {
	r, _ := made(t)

	entries, err := os.ReadDir(r.folder)
	require.NoError(t, err)
	var want strings.Builder
	for _, entry := range entries {
		if entry.Name() != sumsFile {
			want.WriteString(sumOf(read(t, r, entry.Name())) + "  " + entry.Name() + "\n")
		}
	}
	require.Equal(t, want.String(), read(t, r, sumsFile))
	const archive = "kubectl-vectorsidecar-darwin-arm64.tar.gz"
	require.Contains(t, read(t, r, "vectorsidecar.yaml"), "uri: "+repository+"/releases/download/v0.1.0/"+archive+"\n      sha256: "+sumOf(archive)+"\n")
}

func TestRelease_RequiresEachPluginArchive(t *testing.T) {
	r, _ := made(t)
	require.NoError(t, os.Remove(filepath.Join(r.folder, "kubectl-vectorsidecar-darwin-arm64.tar.gz")))
	require.ErrorIs(t, r.complete(), os.ErrNotExist)
}

// The provenance names the digest of each file and image, and the commit. It fits the schema.
func TestRelease_DescribesProvenance(t *testing.T) {
	r, image := made(t)
	text := read(t, r, "provenance.intoto.json")
	require.NoError(t, validate([]byte(text)))
	var found statement
	require.NoError(t, json.Unmarshal([]byte(text), &found))
	require.Contains(t, found.Subject, descriptor{Name: "registry.example/operator", Digest: digestSet{"sha256": image}})
	require.Contains(t, found.Subject, descriptor{Name: "vectorsidecar.yaml", Digest: digestSet{"sha256": sumOf(read(t, r, "vectorsidecar.yaml"))}})
	require.Equal(t, digestSet{"gitCommit": r.commit}, found.Predicate.BuildDefinition.ResolvedDependencies[0].Digest)
	require.Len(t, found.Subject, 5+2)
}

func TestValidate_RejectsOtherStatements(t *testing.T) {
	r, image := made(t)
	text := read(t, r, "provenance.intoto.json")
	for name, change := range map[string]struct{ old, replaced string }{
		"type":           {"https://in-toto.io/Statement/v1", "https://in-toto.io/Statement/v0.1"},
		"predicate type": {"https://slsa.dev/provenance/v1", "https://slsa.dev/provenance/v0.2"},
		"digest":         {image, image[1:]},
		"commit":         {r.commit, "main"},
		"builder":        {`"id": `, `"name": `},
		"build type":     {`"buildType": `, `"type": `},
		"parameters":     {`"externalParameters": {`, `"parameters": {`},
		"file name":      {`"name": "vectorsidecar.yaml"`, `"name": ""`},
	} {
		t.Run(name, func(t *testing.T) {
			require.Contains(t, text, change.old)
			require.ErrorContains(t, validate([]byte(strings.Replace(text, change.old, change.replaced, 1))), "checking the provenance: ")
		})
	}
}

func TestNotesOf_ReturnsSectionOfVersion(t *testing.T) {
	const changelog = "# Changelog\n\n## [Unreleased]\n\nnext\n\n## [0.2.0] - 2027-01-01\n\n### Added\n\n- a [page](docs/a.md)\n\n## [0.1.0] - 2026-12-01\n\nfirst\n"
	for version, want := range map[string]string{
		"0.2.0": "### Added\n\n- a [page](" + repository + "/blob/v0.2.0/docs/a.md)\n",
		"0.1.0": "first\n",
		"0.3.0": "next\n",
	} {
		notes, err := notesOf(changelog, version)
		require.NoError(t, err)
		require.Equal(t, want, notes, version)
	}
	_, err := notesOf("# Changelog\n", "0.1.0")
	require.ErrorContains(t, err, "no section")
}
