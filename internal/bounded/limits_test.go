// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The documentation states the limits of the code.
func TestLimits_EqualDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/reference/input-limits.md")
	require.NoError(t, err)
	for _, limits := range []Limits{Values(), Overrides(), Spec(), Configuration(), Object(), Rendering(), Schemas()} {
		aliases := map[bool]string{true: "yes", false: "no"}[limits.Aliases]
		row := fmt.Sprintf(" | %d | %d | %d | %d | %d | %s |", limits.Bytes, limits.Nodes, limits.Depth, limits.Key, limits.Path, aliases)
		require.Contains(t, string(text), row, limits.Subject)
		require.Contains(t, string(text), limits.Subject)
	}
}

// An Error keeps its position when it is prefixed with a file name.
func TestWithFile_KeepsPosition(t *testing.T) {
	_, err := Values().MeasureYAML([]byte("a:\n- " + strings.Repeat("[", 101) + strings.Repeat("]", 101)))
	require.ErrorContains(t, WithFile("values.yaml", err), "values.yaml:2: nested deeper")
	var refused *Error
	require.ErrorAs(t, WithFile("values.yaml", err), &refused)
	require.Equal(t, 2, refused.Line)
}
