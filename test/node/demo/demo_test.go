// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

//go:build linux

package demo

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// make demo NODE=real DEMO=once shows all steps on a real node, and ends without input.
func TestDemo_FinishesOnRealNode(t *testing.T) {
	root, err := harness.Root()
	require.NoError(t, err)
	command := exec.CommandContext(t.Context(), "go", "run", "./test/demo", "-once", "-node=real")
	command.Dir = root
	printed, err := command.CombinedOutput()
	t.Logf("%s", printed)
	require.NoError(t, err)
	if strings.Contains(string(printed), "SKIPPED") {
		t.Skip("SKIPPED: there can be no real node here")
	}
	require.Contains(t, string(printed), "everything that was started has ended")
}
