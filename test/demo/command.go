// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// kubectl shows a command, runs it as the cluster administrator, and shows and
// returns what it printed.
func (d *demo) kubectl(ctx context.Context, args ...string) (string, error) {
	d.command(append([]string{"kubectl"}, args...)...)
	output, err := d.quietly(ctx, "kubectl", args...)
	d.block(output)
	return output, err
}

// quietly runs a tool in the repository's folder as the cluster administrator,
// and returns its output.
func (d *demo) quietly(ctx context.Context, tool string, args ...string) (string, error) {
	path := d.programs[tool]
	if path == "" {
		var err error
		if path, err = d.plane.Bin(tool); err != nil {
			return "", err
		}
	}
	var stdout, stderr bytes.Buffer
	command := exec.CommandContext(ctx, path, args...)
	command.Dir = d.root
	command.Env = append(os.Environ(), "KUBECONFIG="+d.plane.Kubeconfig())
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("running %s %s: %w: %s", tool, strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}

// head returns the first lines of a text.
func head(text string, lines int) string {
	all := strings.SplitAfter(text, "\n")
	if len(all) <= lines {
		return text
	}
	return strings.Join(all[:lines], "") + "…\n"
}
