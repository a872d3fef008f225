// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package node

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// shellImage is the image in docs/samples/app/deployment.yaml.
const shellImage = "docker.io/library/busybox:1.37"

// ImportDefaults imports the images that the charts and the sample application name, because the node cannot pull them: the
// archive of "make image", Vector or its stand-in, and a shell.
func (n *Node) ImportDefaults(ctx context.Context) error {
	root, err := harness.Root()
	if err != nil {
		return err
	}
	if err := n.ImportArchive(ctx, filepath.Join(root, "bin", "images.tar")); err != nil {
		return fmt.Errorf("importing the operator (run \"make image\" first): %w", err)
	}
	text, err := os.ReadFile(filepath.Join(root, "values.yaml"))
	if err != nil {
		return fmt.Errorf("finding the name of Vector's image: %w", err)
	}
	var values struct {
		Sidecar struct {
			Image string `json:"image"`
		} `json:"sidecar"`
	}
	if err := yaml.Unmarshal(text, &values); err != nil {
		return fmt.Errorf("finding the name of Vector's image: %w", err)
	}
	return errors.Join(n.ImportVector(ctx, values.Sidecar.Image), n.importShell(ctx))
}

// importShell builds the image of the sample from the machine's own shell.
func (n *Node) importShell(ctx context.Context) error {
	files := map[string]string{}
	for _, name := range []string{"sh", "date", "sleep"} {
		path, err := exec.LookPath(name)
		if err != nil {
			return fmt.Errorf("making an image with a shell: %w", err)
		}
		libraries, err := Libraries(ctx, path)
		if err != nil {
			return err
		}
		maps.Copy(files, libraries)
		files["/bin/"+name] = path
	}
	image, err := FromFiles(nil, files)
	if err != nil {
		return err
	}
	return n.Import(ctx, shellImage, image)
}
