// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"flag"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "regenerate docs/reference/flags.md")

func TestFlagReference_MatchesDocumentation(t *testing.T) {
	const path = "../../docs/reference/flags.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(flagReference()), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, flagReference(), string(text), "go test ./internal/operator -update")
}
