// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// No registry has these images: they are imported, and never pulled.
const (
	pauseImage = "node.test/pause:test"
	// Programs is the image of the programs of test/node/programs.
	Programs = "node.test/programs:test"
	// Vector is the image of Vector, or of the stand-in for it.
	Vector = "node.test/vector:test"
)

// FromFiles is an image of files of this machine, by their path in the image, that runs a
// program as a user that is not root.
func FromFiles(entrypoint []string, files map[string]string) (v1.Image, error) {
	layer, err := layerOf(files)
	if err != nil {
		return nil, err
	}
	opened, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer)), nil })
	if err != nil {
		return nil, fmt.Errorf("making a layer: %w", err)
	}
	image, err := mutate.AppendLayers(empty.Image, opened)
	if err != nil {
		return nil, fmt.Errorf("making an image: %w", err)
	}
	return mutate.ConfigFile(image, &v1.ConfigFile{
		Architecture: runtime.GOARCH, OS: "linux", RootFS: rootOf(image),
		Config: v1.Config{Entrypoint: entrypoint, User: "65532:65532"},
	})
}

// AsRoot is an image with programs that run as root, unless the pod sets another user.
func AsRoot(image v1.Image) (v1.Image, error) {
	file, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config := *file.Config.DeepCopy()
	config.User = ""
	return mutate.Config(image, config)
}

func rootOf(image v1.Image) v1.RootFS {
	config, err := image.ConfigFile()
	if err != nil {
		return v1.RootFS{} // mutate made it a moment ago
	}
	return config.RootFS
}

func layerOf(files map[string]string) ([]byte, error) {
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, dir := range []string{"tmp", "etc", "var/log", "var/lib"} {
		if err := w.WriteHeader(&tar.Header{Name: dir + "/", Typeflag: tar.TypeDir, Mode: 0o777}); err != nil {
			return nil, err
		}
	}
	for at, path := range files {
		content, err := os.ReadFile(path) // Follows links: in an image nothing is where they lead.
		if err != nil {
			return nil, fmt.Errorf("reading what an image needs: %w", err)
		}
		if err := w.WriteHeader(&tar.Header{Name: strings.TrimPrefix(at, "/"), Size: int64(len(content)), Mode: 0o755}); err != nil {
			return nil, err
		}
		if _, err := w.Write(content); err != nil {
			return nil, err
		}
	}
	return layer.Bytes(), w.Close()
}

// Libraries are the files that a program needs to be started and to look up names, by
// their path; none for one that is linked statically.
func Libraries(ctx context.Context, program string) (map[string]string, error) {
	printed, err := exec.CommandContext(ctx, "ldd", program).Output() //nolint:gosec // of a program that whoever runs this has named
	if err != nil {
		return map[string]string{}, nil //nolint:nilerr // ldd fails for a program without libraries
	}
	files := map[string]string{}
	for _, word := range strings.Fields(string(printed)) {
		if strings.HasPrefix(word, "/") {
			files[word] = word
		}
	}
	for at := range files {
		for _, library := range []string{"libnss_dns.so.2", "libnss_files.so.2", "libresolv.so.2"} {
			if beside := filepath.Join(filepath.Dir(at), library); !slices.Contains(keys(files), beside) && exists(beside) {
				files[beside] = beside
			}
		}
	}
	return files, nil
}

func keys(files map[string]string) []string {
	all := make([]string, 0, len(files))
	for at := range files {
		all = append(all, at)
	}
	return all
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// Import has the node know an image by a name.
func (n *Node) Import(ctx context.Context, tag string, image v1.Image) error {
	ref, err := name.NewTag(tag)
	if err != nil {
		return fmt.Errorf("naming an image: %w", err)
	}
	archive := filepath.Join(n.files, "import.tar")
	if err := tarball.WriteToFile(archive, ref, image); err != nil {
		return fmt.Errorf("writing image %s: %w", tag, err)
	}
	return n.ImportArchive(ctx, archive)
}

// ImportArchive imports the images of an archive by the names in it, with the arguments of "kind load image-archive".
func (n *Node) ImportArchive(ctx context.Context, path string) error {
	archive, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("reading an image archive: %w", err)
	}
	defer archive.Close()
	return n.runCtr(ctx, archive, "images", "import", "--all-platforms", "--digests", "--snapshotter=overlayfs", "-")
}

// Tag has the node know an image that it has by another name, too.
func (n *Node) Tag(ctx context.Context, tag, as string) error {
	return n.runCtr(ctx, nil, "images", "tag", "--force", tag, as)
}

// ImportVector has the node know VectorImage by a name.
func (n *Node) ImportVector(ctx context.Context, tag string) error {
	image, err := n.VectorImage(ctx)
	if err != nil {
		return err
	}
	return n.Import(ctx, tag, image)
}

// VectorImage is the image of the Vector that the variable VECTOR names, a program or an image
// archive, or else of the stand-in for it.
func (n *Node) VectorImage(ctx context.Context) (v1.Image, error) {
	switch vector := os.Getenv("VECTOR"); {
	case vector == "":
		return FromFiles([]string{"/programs", "vector"}, map[string]string{"/programs": n.Program()})
	case strings.HasSuffix(vector, ".tar"):
		image, err := tarball.ImageFromPath(vector, nil)
		if err != nil {
			return nil, fmt.Errorf("reading the image archive %s: %w", vector, err)
		}
		return image, nil
	default:
		files, err := Libraries(ctx, vector)
		if err != nil {
			return nil, err
		}
		files["/usr/bin/vector"] = vector
		return FromFiles([]string{"/usr/bin/vector"}, files)
	}
}

// importPrograms builds the programs of test/node/programs, and imports them as the image
// that holds a pod's namespaces, and as one for containers.
func (n *Node) importPrograms(ctx context.Context) error {
	if err := n.build(ctx); err != nil {
		return err
	}
	for tag, entrypoint := range map[string][]string{pauseImage: {"/programs", "pause"}, Programs: {"/programs"}} {
		image, err := FromFiles(entrypoint, map[string]string{"/programs": n.Program()})
		if err != nil {
			return err
		}
		if err := n.Import(ctx, tag, image); err != nil {
			return err
		}
	}
	return nil
}

// Program is the path of the programs of test/node/programs.
func (n *Node) Program() string { return filepath.Join(n.files, "programs") }

// build builds them without need of libraries.
func (n *Node) build(ctx context.Context) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-ldflags=-s -w", "-o", n.Program(), "./test/node/programs")
	build.Dir = root
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if printed, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("building test/node/programs: %w\n%s", err, printed)
	}
	return nil
}
