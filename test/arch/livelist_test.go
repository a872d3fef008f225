// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A tenant can store a thousand objects of 1.5 MiB in one namespace. A plain list reads all of them into memory at once;
// package livelist reads one page at a time. This test finds lists by fields and variables that are named live, and API
// readers that are not made a livelist.Client.
func TestLivelist_SendsAllListsOfLiveObjects(t *testing.T) {
	// The certificate's keeper gets two objects and lists none.
	withoutPager := []string{"internal/operator/webhook.go"}
	var readers []string
	sources(t, []string{"internal/controller", "internal/operator"}, func(file string, parsed *ast.File) {
		paged := map[ast.Node]bool{}
		ast.Inspect(parsed, func(node ast.Node) bool {
			call, isCall := node.(*ast.CallExpr)
			if !isCall {
				return true
			}
			method, isMethod := call.Fun.(*ast.SelectorExpr)
			if !isMethod {
				return true
			}
			switch method.Sel.Name {
			case "List":
				require.NotEqual(t, "live", strings.ToLower(lastName(method.X)), "%s lists live objects: use livelist.Collect, Any or Find", file)
			case "Client":
				for _, argument := range call.Args {
					paged[argument] = true
				}
			case "GetAPIReader":
				if !paged[call] {
					readers = append(readers, file)
				}
			}
			return true
		})
	})
	require.Equal(t, withoutPager, readers, "pass the API reader to livelist.Pager.Client")
}

// lastName returns the last identifier of an expression such as a.b.live, "" if it ends otherwise.
func lastName(expression ast.Expr) string {
	switch of := expression.(type) {
	case *ast.Ident:
		return of.Name
	case *ast.SelectorExpr:
		return of.Sel.Name
	}
	return ""
}
