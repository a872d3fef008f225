// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"bytes"
	"io/fs"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
)

// Predecessor is the built-in chart as releases rendered it that noted nothing in
// workloads of what they were asked for.
func Predecessor(t testing.TB) fs.FS {
	t.Helper()
	chart := fstest.MapFS{}
	require.NoError(t, fs.WalkDir(vectorsidecar.FS, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := vectorsidecar.FS.ReadFile(name)
		chart[name] = &fstest.MapFile{Data: bytes.ReplaceAll(text, []byte(".Values.predecessor"), []byte("true"))}
		return err
	}))
	return chart
}
