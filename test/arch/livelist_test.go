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

// fromMemory are the lists outside package livelist, by file and receiver: they read informer caches, or files and objects
// that were listed before.
var fromMemory = map[string]string{
	"internal/controller/catalog/reconciler.go":     "r.options.Cached",
	"internal/controller/sidecarcache/clusters.go":  "l.cached",
	"internal/controller/sidecarcache/lister.go":    "l.cached",
	"internal/controller/declared/watch.go":         "r.Cached",
	"internal/controller/leftovers/companions.go":   "r.Cached",
	"internal/controller/sidecar/validationjobs.go": "v.client",
	"internal/cli/plan_forecast.go":                 "s.objects",
	"internal/source/reader.go":                     "r",
}

// uncached are the files with clients that read past the caches and that are not made a livelist.Client in the same
// expression. They get and write objects, or pass the client to livelist.New.
var uncached = []string{
	"internal/checkup/release.go",
	"internal/cli/check.go",
	"internal/cli/session.go",
	"internal/operator/scope.go",
	"internal/operator/webhook.go",
	"internal/removal/uninstall.go",
}

// Live lists are read with package livelist, one page at a time. A plain list would read a thousand objects of 1.5 MiB,
// which a tenant can store, into memory at once.
func TestArch_SendsLiveListsThroughLivelist(t *testing.T) {
	lists, paged, clients := map[string]string{}, map[ast.Node]bool{}, map[string]bool{}
	files(t, func(file string, text []byte) {
		isProduct := strings.HasPrefix(file, "internal/") || strings.HasPrefix(file, "cmd/") || strings.HasPrefix(file, "api/")
		if !isProduct || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") || path.Dir(file) == "internal/livelist" {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall {
				return true
			}
			receiver, method := splitCall(call)
			switch {
			case method == "List" && len(call.Args) > 1:
				require.Contains(t, []string{"", receiver}, lists[file], "%s lists with several clients", file)
				lists[file] = receiver
			case method == "Client":
				for _, argument := range call.Args {
					paged[argument] = true
				}
			case method == "GetAPIReader" && !paged[call], receiver == "client" && (method == "New" || method == "NewWithWatch"):
				clients[file] = true
			}
			return true
		})
	})
	require.Equal(t, fromMemory, lists, "use livelist.Collect, Contains or Find")
	require.Equal(t, uncached, slices.Sorted(maps.Keys(clients)), "pass it to livelist.Pager.Client, with a configuration that LimitResponses has changed")
}

// splitCall returns the receiver of a call, such as a.b in a.b.List(), and its method.
func splitCall(call *ast.CallExpr) (receiver, method string) {
	selector, isMethod := call.Fun.(*ast.SelectorExpr)
	if !isMethod {
		return "", ""
	}
	return dotted(selector.X), selector.Sel.Name
}

// dotted returns an expression such as a.b.c as text, with "?" for parts that are not names.
func dotted(expression ast.Expr) string {
	switch x := expression.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.SelectorExpr:
		return dotted(x.X) + "." + x.Sel.Name
	}
	return "?"
}
