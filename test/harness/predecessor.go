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
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
)

// Predecessor is the built-in chart as releases rendered it that noted nothing in
// workloads of what they were asked for.
func Predecessor(t testing.TB) fs.FS {
	t.Helper()
	files, err := sidecarchart.Read(vectorsidecar.FS)
	require.NoError(t, err)
	chart := fstest.MapFS{}
	for name, text := range files {
		chart[name] = &fstest.MapFile{Data: bytes.ReplaceAll(text, []byte(".Values.predecessor"), []byte("true"))}
	}
	return chart
}
