// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"

	"kontroloop.ai/vector-sidecar-operator/test/node"
)

// onNode runs the demo on a real node, and returns the exit code.
func onNode(play func(*realNode) int) int {
	return node.Do(func(ctx context.Context, n *node.Node) int {
		if err := n.ImportDefaults(ctx); err != nil {
			_, _ = os.Stderr.WriteString(err.Error() + "\n")
			return 1
		}
		return play(&realNode{plane: n.ControlPlane, shell: n.Shell()})
	})
}
