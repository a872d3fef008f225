// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Command imagearchive writes the images of OCI layouts, as ko builds them, into one archive. Container engines load the
// images by name: containerd and kind by the annotations of index.json, Docker and Podman by manifest.json, too. Equal
// layouts and names give equal archives.
//
//	go run ./test/imagearchive ARCHIVE NAME=LAYOUT...
package main

import (
	"archive/tar"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// containerdName is the annotation with the name by which containerd stores an image.
const containerdName = "io.containerd.image.name"

func main() {
	flag.Parse()
	if flag.NArg() < 2 {
		fmt.Fprintln(os.Stderr, "usage: imagearchive ARCHIVE NAME=LAYOUT...")
		os.Exit(2)
	}
	if err := write(flag.Arg(0), flag.Args()[1:]); err != nil {
		fmt.Fprintf(os.Stderr, "writing %s: %v\n", flag.Arg(0), err)
		os.Exit(1)
	}
}

// write writes the archive of images, NAME=LAYOUT each, and prints their names.
func write(archive string, images []string) error {
	files := map[string][]byte{}
	index := v1.IndexManifest{SchemaVersion: 2, MediaType: types.OCIImageIndex}
	var manifest tarball.Manifest
	for _, image := range images {
		name, folder, _ := strings.Cut(image, "=")
		described, loaded, err := read(name, folder)
		if err != nil {
			return fmt.Errorf("reading image %q in %q: %w", name, folder, err)
		}
		index.Manifests, manifest = append(index.Manifests, described...), append(manifest, loaded)
		if err := addLayout(files, folder); err != nil {
			return err
		}
		fmt.Printf("%s has the image %s\n", archive, name)
	}
	for name, content := range map[string]any{"index.json": index, "manifest.json": manifest} {
		var err error
		if files[name], err = json.Marshal(content); err != nil {
			return err
		}
	}
	return writeTar(archive, files)
}

// read returns the descriptors of the images in a layout with their name, and the image that Docker loads.
func read(name, folder string) ([]v1.Descriptor, tarball.Descriptor, error) {
	index, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		return nil, tarball.Descriptor{}, err
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, tarball.Descriptor{}, err
	}
	var described []v1.Descriptor
	for i := range manifest.Manifests {
		entry := &manifest.Manifests[i]
		described = append(described, v1.Descriptor{
			MediaType: entry.MediaType, Size: entry.Size, Digest: entry.Digest, Annotations: map[string]string{containerdName: name},
		})
	}
	image, err := imageOfPlatform(index)
	if err != nil {
		return nil, tarball.Descriptor{}, err
	}
	content, err := image.Manifest()
	if err != nil {
		return nil, tarball.Descriptor{}, err
	}
	loaded := tarball.Descriptor{Config: blobPath(content.Config.Digest), RepoTags: []string{name}}
	for i := range content.Layers {
		loaded.Layers = append(loaded.Layers, blobPath(content.Layers[i].Digest))
	}
	return described, loaded, nil
}

// imageOfPlatform returns the image of this machine's platform in an index or in an index below it, or else the last image.
func imageOfPlatform(index v1.ImageIndex) (v1.Image, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var digest *v1.Hash
	for i := range manifest.Manifests {
		entry := &manifest.Manifests[i]
		if entry.MediaType.IsIndex() {
			nested, err := index.ImageIndex(entry.Digest)
			if err != nil {
				return nil, err
			}
			return imageOfPlatform(nested)
		}
		digest = &entry.Digest
		if entry.Platform != nil && entry.Platform.Architecture == runtime.GOARCH {
			break
		}
	}
	if digest == nil {
		return nil, errors.New("the index has no image")
	}
	return index.Image(*digest)
}

func blobPath(digest v1.Hash) string { return "blobs/" + digest.Algorithm + "/" + digest.Hex }

// addLayout adds the files of a layout without its index.
func addLayout(files map[string][]byte, folder string) error {
	layoutFiles := os.DirFS(folder)
	return fs.WalkDir(layoutFiles, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || name == "index.json" {
			return err
		}
		files[name], err = fs.ReadFile(layoutFiles, name)
		return err
	})
}

// writeTar writes an archive of files by name.
func writeTar(archive string, files map[string][]byte) (err error) {
	file, err := os.Create(archive)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	w := tar.NewWriter(file)
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := w.WriteHeader(&tar.Header{Name: name, Size: int64(len(files[name])), Mode: 0o644}); err != nil {
			return err
		}
		if _, err := w.Write(files[name]); err != nil {
			return err
		}
	}
	return w.Close()
}
