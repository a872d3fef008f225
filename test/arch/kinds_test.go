// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// namesAKind are the files of the product that name a kind of workloads, messages
// included: its adapter, and those that have a reason of their own.
var namesAKind = map[string]string{
	"internal/workload/deployment.go": "the adapter",
	"internal/checkup/cluster.go":     "the operator's own Deployment, as the chart installs it",
	"internal/source/installation.go": "the same",
	"internal/status/judge.go":        "fields of the VectorSidecar's status are named so",
	"internal/status/status.go":       "the same",
	"internal/status/survey.go":       "the same",
	"internal/cli/get.go":             "the same",
	"internal/cli/reported.go":        "the same",
	"internal/cli/test.go":            "an example in the help",
}

func TestAKindIsNamedByItsAdapterAlone(t *testing.T) {
	found := map[string]bool{}
	files(t, func(file string, text []byte) {
		isProduct := strings.HasPrefix(file, "internal/") || strings.HasPrefix(file, "cmd/")
		if !isProduct || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			switch one := node.(type) {
			case *ast.Ident:
				found[file] = found[file] || strings.Contains(one.Name, "Deployment")
			case *ast.BasicLit:
				found[file] = found[file] || strings.Contains(one.Value, "Deployment")
			}
			return true
		})
	})
	maps.DeleteFunc(found, func(_ string, names bool) bool { return !names })
	require.Equal(t, slices.Sorted(maps.Keys(namesAKind)), slices.Sorted(maps.Keys(found)),
		"ask internal/workload for what is to be known of a kind, or say here why that cannot be")
}
