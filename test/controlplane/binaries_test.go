// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controlplane_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
)

func TestStart_ReportsAllMissingPrograms(t *testing.T) {
	dir := t.TempDir()
	t.Setenv(controlplane.BinVariable, dir)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "etcd"), nil, 0o700))

	_, err := controlplane.Start(t.Context(), controlplane.Options{Nodes: 1})
	require.ErrorIs(t, err, os.ErrNotExist)
	for _, name := range []string{"kube-apiserver", "kube-controller-manager", "kube-scheduler", "kwok", "make tools", dir} {
		require.ErrorContains(t, err, name, "one error names all that is missing and how to get it")
	}
	require.NotContains(t, err.Error(), "etcd", "and nothing that is there")

	_, err = controlplane.Bin("helm")
	require.ErrorContains(t, err, `"helm"`)
	require.ErrorContains(t, err, "make tools")
}

// The environment variable with the directory of programs must have an absolute path.
func TestBinVariable_RequiresAbsolutePath(t *testing.T) {
	t.Setenv(controlplane.BinVariable, "bin")
	_, err := controlplane.Bin("helm")
	require.ErrorContains(t, err, controlplane.BinVariable)
}
