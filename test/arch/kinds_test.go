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

// namesAKind lists the files of the product that name a kind of workloads, messages included: its adapter, and
// files with the given reason.
var namesAKind = map[string]string{
	"internal/workload/deployment.go": "the adapter",
	"internal/checkup/cluster.go":     "the operator's own Deployment, as the chart installs it",
	"internal/source/installation.go": "the same",
	"internal/status/counts.go":       "fields of the VectorSidecar's status are named so",
	"internal/status/status.go":       "the same",
	"internal/cli/test.go":            "an example in the help",
}

// Only listed files, such as the adapter, mention Deployments. All other code asks the kind of the workload.
func TestKind_IsNamedOnlyInAdapters(t *testing.T) {
	require.Equal(t, slices.Sorted(maps.Keys(namesAKind)), naming(t, func(text string) bool { return strings.Contains(text, "Deployment") }),
		"ask internal/workload for what is to be known of a kind, or say here why that cannot be")
}

// tables lists the files with a row for each kind.
var tables = map[string]string{
	"internal/workload/kinds.go":   "the list of kinds",
	"internal/workload/holders.go": "what holds their pod templates",
}

// A new workload kind needs one file, and one row in each table.
func TestKind_IsDefinedInOneFile(t *testing.T) {
	for kind, others := range map[string][]string{
		"StatefulSet": nil,
		"DaemonSet":   nil,
		"CronJob":     {"internal/workload/job.go", "internal/workload/place.go", "internal/meta/reasons.go"}, // Its runs are Jobs; its template is further below; words.
		"ArgoRollout": {"internal/workload/argorollout_object.go"},                                            // The type, which Kubernetes does not have.
	} {
		allowed := slices.Concat(slices.Collect(maps.Keys(tables)), others, []string{"internal/workload/" + strings.ToLower(kind) + ".go"})
		for _, file := range naming(t, func(text string) bool { return strings.Contains(strings.ToLower(text), strings.ToLower(kind)) }) {
			require.Contains(t, allowed, file, "%s is named there: ask internal/workload for what is to be known of a kind", kind)
		}
	}
}

// naming returns the files of the product with an identifier or a literal that names a kind.
func naming(t *testing.T, names func(text string) bool) []string {
	t.Helper()
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
				found[file] = found[file] || names(one.Name)
			case *ast.BasicLit:
				found[file] = found[file] || names(one.Value)
			}
			return true
		})
	})
	maps.DeleteFunc(found, func(_ string, names bool) bool { return !names })
	return slices.Sorted(maps.Keys(found))
}
