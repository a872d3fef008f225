// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The operator runs in a child process. It finds no kubeconfig, logs the error in the chosen format, and exits.
func TestRun_LogsInChosenFormat(t *testing.T) {
	const inside = "TEST_LOG_FORMAT"
	if format := os.Getenv(inside); format != "" {
		os.Args = []string{"operator", "--log-format=" + format}
		os.Exit(run())
	}
	for format, line := range map[string]string{
		"json": `(?m)^\{"level":"ERROR","ts":"[^"]+","logger":"main","msg":"running the operator","error":"[^\n]+\}$`,
		"text": `(?m)^\S+\tERROR\tmain\trunning the operator\t\{"error": "[^\n]+\}$`,
	} {
		operator := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$")
		operator.Env = append(os.Environ(), inside+"="+format, "KUBECONFIG="+filepath.Join(t.TempDir(), "none"))
		out, err := operator.CombinedOutput()
		require.Error(t, err, "%s", out)
		require.Equal(t, 1, operator.ProcessState.ExitCode(), "%s", out)
		require.Regexp(t, line, string(out))
	}
}
