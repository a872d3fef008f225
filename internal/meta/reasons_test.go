// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The list of reasons has each reason constant exactly once.
func TestReasons_ListEachReasonOnce(t *testing.T) {
	file, err := parser.ParseFile(token.NewFileSet(), "conditions.go", nil, 0)
	require.NoError(t, err)
	var declared []string
	ast.Inspect(file, func(node ast.Node) bool {
		if spec, ok := node.(*ast.ValueSpec); ok && strings.HasPrefix(spec.Names[0].Name, "Reason") {
			declared = append(declared, strings.TrimPrefix(spec.Names[0].Name, "Reason"))
		}
		return true
	})
	require.NotEmpty(t, declared)
	var listed []string
	for _, reason := range Reasons() {
		listed = append(listed, reason.Name)
		require.NotEmpty(t, reason.Level, reason.Name)
		require.NotEmpty(t, reason.Location, reason.Name)
		require.NotEmpty(t, reason.Meaning, reason.Name)
		require.NotEmpty(t, reason.Help, "%s: say what to do", reason.Name)
	}
	require.ElementsMatch(t, declared, listed)
}
