// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// pinnedMinor returns the minor version of a module that a tool module pins.
func pinnedMinor(t *testing.T, folder, module string) int {
	t.Helper()
	text, err := os.ReadFile("../tools/" + folder + "/go.mod")
	require.NoError(t, err)
	match := regexp.MustCompile(module + ` v\d+\.(\d+)\.`).FindSubmatch(text)
	require.NotNil(t, match)
	minor, err := strconv.Atoi(string(match[1]))
	require.NoError(t, err)
	return minor
}

// The demo uses helm and kubectl of PATH if their versions fit those that test/tools pins. Otherwise, make gets them.
func TestDemo_UsesFittingToolsOfPath(t *testing.T) {
	helm3, helm4 := pinnedMinor(t, "helm", "helm.sh/helm/v3"), pinnedMinor(t, "helm4", "helm.sh/helm/v4")
	kube := pinnedMinor(t, "kubernetes", "k8s.io/kubernetes")
	for name, test := range map[string]struct {
		helm, kubectl string
		fits          bool
	}{
		"pinned minors":                        {fmt.Sprintf("v3.%d.99", helm3), fmt.Sprintf("v1.%d.99", kube), true},
		"Helm 4, kubectl one minor later":      {fmt.Sprintf("v4.%d.0+g1234567", helm4), fmt.Sprintf("v1.%d.0", kube+1), true},
		"kubectl one minor earlier":            {fmt.Sprintf("v3.%d.0", helm3), fmt.Sprintf("v1.%d.0", kube-1), true},
		"earlier minors":                       {fmt.Sprintf("v3.%d.0", helm3-1), fmt.Sprintf("v1.%d.0", kube-2), false},
		"later minors":                         {fmt.Sprintf("v4.%d.0", helm4+1), fmt.Sprintf("v1.%d.0", kube+2), false},
		"minors that begin with a fitting one": {fmt.Sprintf("v3.%d0.0", helm3), fmt.Sprintf("v1.%d0.0", kube), false},
		"other output":                         {"unknown", "unknown", false},
	} {
		t.Run(name, func(t *testing.T) {
			path, bin := t.TempDir(), t.TempDir()
			for program, version := range map[string]string{"helm": test.helm, "kubectl": "Client Version: " + test.kubectl} {
				require.NoError(t, os.WriteFile(filepath.Join(path, program), []byte("#!/bin/sh\necho '"+version+"'\n"), 0o755))
			}
			command := exec.CommandContext(t.Context(), "make", "--dry-run", "--no-print-directory", "demo", "BIN="+bin, "TOOLS=build")
			command.Dir = "../.."
			command.Env = append(os.Environ(), "PATH="+path+string(filepath.ListSeparator)+os.Getenv("PATH"))
			output, err := command.CombinedOutput()
			require.NoError(t, err, "%s", output)
			for _, program := range []string{"helm", "kubectl"} {
				flag, step := "-"+program+"='"+filepath.Join(path, program)+"'", "step.sh "+filepath.Join(bin, program)+" "
				if test.fits {
					require.Contains(t, string(output), flag)
					require.NotContains(t, string(output), step)
				} else {
					require.Contains(t, string(output), "-"+program+"=''")
					require.Contains(t, string(output), step)
				}
			}
			require.Contains(t, string(output), "step.sh "+filepath.Join(bin, "kube-apiserver")+" ")
			require.NotContains(t, string(output), "helm4 ", "the demo does not need it")
		})
	}
}
