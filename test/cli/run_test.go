// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/cli"
)

// builtin is shared by all runs of the plugin in this process, because reading it takes longer than most of them.
var builtin = cli.Builtin{Chart: vectorsidecar.FS, Definition: vectorsidecar.Definition}.WithCache()

// runs runs the plugin in this process, and returns its standard output.
func runs(t testing.TB, arguments ...string) []byte {
	t.Helper()
	return exits(t, 0, arguments...)
}

// exits is runs for another exit code.
func exits(t testing.TB, want int, arguments ...string) []byte {
	t.Helper()
	var out, rest bytes.Buffer
	streams := genericiooptions.IOStreams{In: &bytes.Buffer{}, Out: &out, ErrOut: &rest}
	code := cli.Run(t.Context(), arguments, streams, builtin, "test")
	require.Equal(t, want, code, "%s", rest.String())
	return out.Bytes()
}
