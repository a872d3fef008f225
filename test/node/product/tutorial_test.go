// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package product

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/runbook"
)

// A reader follows the tutorial of kind from the installation on. Operator, application and sidecar run in pods that start
// by the names of the images.
func TestProduct_FollowsTutorialOfKind(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "docs", "tutorials", "kind.md"))
	require.NoError(t, err)
	commands, err := runbook.Parse("kind", string(text))
	require.NoError(t, err)
	t.Cleanup(func() {
		inShell(t, "helm uninstall "+release+" --namespace="+namespace+" --wait")
		inShell(t, "kubectl delete namespace shop "+namespace)
	})
	for _, command := range commands {
		if strings.HasPrefix(command.Text, "make ") {
			continue // The node is there, with the images.
		}
		require.NoError(t, command.Check(inShell(t, command.Text)))
	}
}
