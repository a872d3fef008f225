// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"

	"sigs.k8s.io/yaml"

	"kontroloop.ai/vector-sidecar-operator/test/node"
)

// shellImage is the image in docs/samples/app/deployment.yaml.
const shellImage = "docker.io/library/busybox:1.37"

// onNode runs the demo on a real node, and returns the exit code.
func onNode(play func(*realNode) int) int {
	return node.Do(func(ctx context.Context, n *node.Node) int {
		if err := importImages(ctx, n); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			return 1
		}
		return play(&realNode{plane: n.ControlPlane, shell: n.Shell()})
	})
}

// importImages imports the images of the chart and the samples into the node, which cannot pull them.
func importImages(ctx context.Context, n *node.Node) error {
	root, err := repository()
	if err != nil {
		return err
	}
	operator, sidecar, err := imageNames(root)
	if err != nil {
		return err
	}
	return errors.Join(n.ImportLayout(ctx, operator, filepath.Join(root, "bin", "image")), n.ImportVector(ctx, sidecar), importShell(ctx, n))
}

// imageNames returns the names of the images of the operator and of Vector in the charts.
func imageNames(root string) (operator, sidecar string, err error) {
	var chart struct {
		AppVersion string `json:"appVersion"`
	}
	var installed struct {
		Image struct {
			Registry   string `json:"registry"`
			Repository string `json:"repository"`
		} `json:"image"`
	}
	var injected struct {
		Sidecar struct {
			Image string `json:"image"`
		} `json:"sidecar"`
	}
	for path, into := range map[string]any{"chart/Chart.yaml": &chart, "chart/values.yaml": &installed, "values.yaml": &injected} {
		text, err := os.ReadFile(filepath.Join(root, path))
		if err == nil {
			err = yaml.Unmarshal(text, into)
		}
		if err != nil {
			return "", "", fmt.Errorf("looking for names of images: %w", err)
		}
	}
	return installed.Image.Registry + "/" + installed.Image.Repository + ":" + chart.AppVersion, injected.Sidecar.Image, nil
}

// importShell builds the image of the sample from the machine's own shell.
func importShell(ctx context.Context, n *node.Node) error {
	files := map[string]string{}
	for _, name := range []string{"sh", "date", "sleep"} {
		path, err := exec.LookPath(name)
		if err != nil {
			return fmt.Errorf("making an image with a shell: %w", err)
		}
		libraries, err := node.Libraries(ctx, path)
		if err != nil {
			return err
		}
		maps.Copy(files, libraries)
		files["/bin/"+name] = path
	}
	image, err := node.FromFiles(nil, files)
	if err != nil {
		return err
	}
	return n.Import(ctx, shellImage, image)
}
