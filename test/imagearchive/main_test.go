// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"archive/tar"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/random"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/validate"
	"github.com/stretchr/testify/require"
)

// newLayout writes an index into a new OCI layout, and returns the folder.
func newLayout(t *testing.T, index v1.ImageIndex) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "layout")
	_, err := layout.Write(folder, index)
	require.NoError(t, err)
	return folder
}

func newImage(t *testing.T, architecture string) v1.Image {
	t.Helper()
	image, err := random.Image(100, 2)
	require.NoError(t, err)
	config, err := image.ConfigFile()
	require.NoError(t, err)
	config.OS, config.Architecture = "linux", architecture
	image, err = mutate.ConfigFile(image, config)
	require.NoError(t, err)
	return image
}

// unpack unpacks an archive into a new folder, and returns the folder.
func unpack(t *testing.T, archive string) string {
	t.Helper()
	folder := t.TempDir()
	file, err := os.Open(archive)
	require.NoError(t, err)
	defer file.Close()
	for files := tar.NewReader(file); ; {
		header, err := files.Next()
		if errors.Is(err, io.EOF) {
			return folder
		}
		require.NoError(t, err)
		text, err := io.ReadAll(files)
		require.NoError(t, err)
		path := filepath.Join(folder, filepath.FromSlash(header.Name))
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
}

// An archive has two images: an index with two platforms, as ko writes it, and one without an index. Each gets its own name.
func TestImageArchive_NamesEachImage(t *testing.T) {
	native, other, single := newImage(t, runtime.GOARCH), newImage(t, "s390x"), newImage(t, runtime.GOARCH)
	platform := func(image v1.Image, architecture string) mutate.IndexAddendum {
		return mutate.IndexAddendum{Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: architecture}}}
	}
	platforms := mutate.AppendManifests(empty.Index, platform(native, runtime.GOARCH), platform(other, "s390x"))
	first := newLayout(t, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: platforms}))
	second := newLayout(t, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: single}))
	archive := filepath.Join(t.TempDir(), "images.tar")
	images := map[string]v1.Image{"example.com/first:1": native, "example.com/second:1": single}
	require.NoError(t, write(archive, []string{"example.com/first:1=" + first, "example.com/second:1=" + second}))

	index, err := layout.ImageIndexFromPath(unpack(t, archive))
	require.NoError(t, err)
	require.NoError(t, validate.Index(index))
	manifest, err := index.IndexManifest()
	require.NoError(t, err)
	require.Len(t, manifest.Manifests, 2)
	require.True(t, manifest.Manifests[0].MediaType.IsIndex(), "all platforms are in the archive")
	require.Equal(t, "example.com/first:1", manifest.Manifests[0].Annotations["io.containerd.image.name"])
	require.Equal(t, "example.com/second:1", manifest.Manifests[1].Annotations["io.containerd.image.name"])

	for tag, image := range images {
		ref, err := name.NewTag(tag)
		require.NoError(t, err)
		loaded, err := tarball.ImageFromPath(archive, &ref)
		require.NoError(t, err)
		require.NoError(t, validate.Image(loaded))
		want, err := image.ConfigName()
		require.NoError(t, err)
		loadedName, err := loaded.ConfigName()
		require.NoError(t, err)
		require.Equal(t, want, loadedName, tag)
	}
}

func TestImageArchive_IsReproducible(t *testing.T) {
	folder := newLayout(t, mutate.AppendManifests(empty.Index, mutate.IndexAddendum{Add: newImage(t, runtime.GOARCH)}))
	var archives [2][]byte
	for i := range archives {
		path := filepath.Join(t.TempDir(), "images.tar")
		require.NoError(t, write(path, []string{"example.com/app:1=" + folder}))
		var err error
		archives[i], err = os.ReadFile(path)
		require.NoError(t, err)
	}
	require.Equal(t, archives[0], archives[1])
}
