// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// clock matches the names of package time whose result depends on the time of the call.
var clock = regexp.MustCompile(`^(Now|Since|Until|After|AfterFunc|Sleep|Tick|NewTimer|NewTicker)$`)

// isClient reports whether a package reaches a cluster.
func isClient(imported string) bool {
	isTypes := under("k8s.io/client-go/applyconfigurations")(imported)
	return under("k8s.io/client-go")(imported) && !isTypes || under("sigs.k8s.io/controller-runtime")(imported)
}

// A plan depends only on its arguments. A decision depends only on its Input: it reads no clock, and can be canceled.
// Only Input has fields that are functions, for data that few decisions need. Each of them returns the same result for
// the same arguments.
func TestDecision_DependsOnlyOnArguments(t *testing.T) {
	sources(t, []string{"internal/decision", "internal/plan"}, func(file string, parsed *ast.File) {
		for _, imported := range importsOf(t, parsed) {
			isShared := path.Dir(file) == "internal/plan" && slices.Contains([]string{"context", "sync", "sync/atomic"}, imported)
			require.False(t, isClient(imported) || isShared, "%s imports %s", file, imported)
		}
		require.Empty(t, readings(parsed), "%s reads the clock", file)
		if file != "internal/decision/input.go" {
			require.Empty(t, callbacks(parsed), "%s takes functions for values", file)
		}
	})
}

// Package desired can be canceled and caches its results, but uses no clock and no clients.
func TestArch_ForbidsClocksAndClientsInDesired(t *testing.T) {
	sources(t, []string{"internal/desired"}, func(file string, parsed *ast.File) {
		for _, imported := range importsOf(t, parsed) {
			require.False(t, isClient(imported), "%s imports %s", file, imported)
		}
		require.Empty(t, readings(parsed), "%s reads the clock", file)
	})
}

// sources calls do for each file of the packages, without tests.
func sources(t *testing.T, of []string, do func(file string, parsed *ast.File)) {
	t.Helper()
	seen := map[string]bool{}
	files(t, func(file string, text []byte) {
		folder := path.Dir(file)
		if !slices.Contains(of, folder) || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		seen[folder] = true
		do(file, parsed)
	})
	require.Len(t, seen, len(of), "a package is not where it was")
}

func importsOf(t *testing.T, parsed *ast.File) []string {
	t.Helper()
	var all []string
	for _, one := range parsed.Imports {
		name, err := strconv.Unquote(one.Path.Value)
		require.NoError(t, err)
		all = append(all, name)
	}
	return all
}

// readings returns the places in which a file reads the clock, or waits for it.
func readings(parsed *ast.File) []string {
	var found []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		if selected, is := node.(*ast.SelectorExpr); is && clock.MatchString(selected.Sel.Name) {
			if from, is := selected.X.(*ast.Ident); is && from.Name == "time" {
				found = append(found, "time."+selected.Sel.Name)
			}
		}
		return true
	})
	return found
}

// callbacks are the exported fields of exported structs, and the exported types, that are
// functions.
func callbacks(parsed *ast.File) []string {
	var found []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		spec, is := node.(*ast.TypeSpec)
		if !is || !spec.Name.IsExported() {
			return true
		}
		if _, is := spec.Type.(*ast.FuncType); is {
			found = append(found, spec.Name.Name)
		}
		structure, is := spec.Type.(*ast.StructType)
		if !is {
			return true
		}
		for _, field := range structure.Fields.List {
			for _, name := range field.Names {
				ast.Inspect(field.Type, func(node ast.Node) bool {
					if _, is := node.(*ast.FuncType); is && name.IsExported() {
						found = append(found, spec.Name.Name+"."+name.Name)
					}
					return true
				})
			}
		}
		return true
	})
	return found
}

// The test of pure packages finds callbacks and reads of the clock in sample code.
func TestArch_DetectsCallbacksAndClockReads(t *testing.T) {
	parsed, err := parser.ParseFile(token.NewFileSet(), "a.go", `package a
import "time"
type Facts struct { Now time.Time; Verdict func(string) bool; All map[string]func(); hidden func() }
type Observer func()
func now() time.Time { return time.Now() }
`, parser.SkipObjectResolution)
	require.NoError(t, err)
	require.Equal(t, []string{"Facts.Verdict", "Facts.All", "Observer"}, callbacks(parsed))
	require.Equal(t, []string{"time.Now"}, readings(parsed))
}
