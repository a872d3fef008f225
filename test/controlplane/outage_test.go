// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane

import (
	"os/exec"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// A process has stopped only when each of its threads has stopped.
func TestHasStopped_WaitsForAllThreads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux says in which state threads are")
	}
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	require.NoError(t, cmd.Start())
	defer func() {
		require.NoError(t, cmd.Process.Kill())
		require.Error(t, cmd.Wait())
	}()
	require.ErrorContains(t, hasStopped(cmd.Process.Pid), "is in state")
	require.NoError(t, cmd.Process.Signal(syscall.SIGSTOP))
	require.Eventually(t, func() bool { return hasStopped(cmd.Process.Pid) == nil }, time.Minute, time.Millisecond)
}
