// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each key of a log line, and each attribute of a span, is explained on a page, because users search for it.
func TestDocs_ExplainLogKeysAndSpanAttributes(t *testing.T) {
	text, err := os.ReadFile(root + "/docs/how-to/operate/observability.md")
	require.NoError(t, err)
	for _, file := range []string{"internal/telemetry/log.go", "internal/telemetry/trace.go"} {
		parsed, err := parser.ParseFile(token.NewFileSet(), root+"/"+file, nil, 0)
		require.NoError(t, err)
		found := 0
		ast.Inspect(parsed, func(node ast.Node) bool {
			declared, ok := node.(*ast.GenDecl)
			if !ok || declared.Tok != token.CONST {
				return true
			}
			ast.Inspect(declared, func(node ast.Node) bool {
				if literal, ok := node.(*ast.BasicLit); ok {
					name, err := strconv.Unquote(literal.Value)
					require.NoError(t, err)
					require.Contains(t, string(text), "`"+name+"`", "%s declares it", file)
					found++
				}
				return true
			})
			return true
		})
		require.Greater(t, found, 5, file)
	}
}
