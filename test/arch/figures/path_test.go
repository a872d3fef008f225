// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/packages"
)

// library reads the standard library from its sources, once for all tests.
var (
	libraryFiles = token.NewFileSet()
	library      = importer.ForCompiler(libraryFiles, "source", nil)
)

// checked returns packages of one file each, as pairs of path and source. A package comes after those that it imports.
func checked(t *testing.T, sources ...string) *code {
	t.Helper()
	fset, imports := libraryFiles, moduleImports{}
	var all []*packages.Package
	for pair := range slices.Chunk(sources, 2) {
		path := module + "/" + pair[0]
		file, err := parser.ParseFile(fset, path+"/a.go", pair[1], parser.ParseComments)
		require.NoError(t, err)
		info := &types.Info{
			Types: map[ast.Expr]types.TypeAndValue{}, Defs: map[*ast.Ident]types.Object{}, Uses: map[*ast.Ident]types.Object{},
			Selections: map[*ast.SelectorExpr]*types.Selection{}, Implicits: map[ast.Node]types.Object{},
		}
		checkedPackage, err := (&types.Config{Importer: imports}).Check(path, fset, []*ast.File{file}, info)
		require.NoError(t, err)
		imports[path] = checkedPackage
		all = append(all, &packages.Package{PkgPath: path, Name: checkedPackage.Name(), Types: checkedPackage, TypesInfo: info, Syntax: []*ast.File{file}})
	}
	return newCode(fset, all)
}

// moduleImports imports packages of the module that were checked before, and the standard library.
type moduleImports map[string]*types.Package

func (m moduleImports) Import(path string) (*types.Package, error) {
	if imported := m[path]; imported != nil {
		return imported, nil
	}
	return library.Import(path)
}

// The functions that a reconcile can reach include the one that writes workloads.
func TestReconcileClosure_IncludesWriter(t *testing.T) {
	product, err := loaded()
	require.NoError(t, err)
	reconcile, err := product.reconcileClosure()
	require.NoError(t, err)
	writer := product.function("internal/apply.Writer.ApplyWorkload")
	require.NotNil(t, writer)
	require.Contains(t, reconcile.reached, ast.Node(product.bodies[writer]))
}

// Each case is a way to call a function, such as an interface or a field. The called function is reached, and another
// one is not.
func TestClosureFrom_FollowsCalls(t *testing.T) {
	const rest = "\nfunc reached() {}\nfunc other() {}\n"
	for name, source := range map[string]string{
		"a call":                     `func entry() { reached() }`,
		"a function value":           `func entry() { f := reached; f() }`,
		"a method of an interface":   "type i interface{ m() }\ntype t struct{}\nfunc (*t) m() { reached() }\nfunc entry(v i) { v.m() }",
		"an embedded method":         "type i interface{ m() }\ntype s struct{}\nfunc (s) m() { reached() }\ntype t struct{ *s }\nfunc entry(v i) { v.m() }",
		"a field":                    "type t struct{ f func() }\nvar v = t{f: reached}\nfunc entry(v t) { v.f() }",
		"a field without a key":      "type t struct{ f func() }\nvar v = t{reached}\nfunc entry(v t) { v.f() }",
		"a field by a parameter":     "type t struct{ f func() }\nfunc newT(f func()) *t { return &t{f: f} }\nvar v = newT(reached)\nfunc entry(v t) { v.f() }",
		"a list of a package":        "var list = []func(){reached}\nfunc entry() { list[0]() }",
		"a map that is filled later": "var m = map[string]func(){}\nfunc fill() { m[\"a\"] = reached }\nfunc entry() { m[\"a\"]() }",
		"a literal in a field":       "type t struct{ f func() }\nvar v = t{f: func() { reached() }}\nfunc entry(v t) { v.f() }",
		"a generic function":         "func g[T any](T) { reached() }\nfunc entry() { g(1) }",
	} {
		t.Run(name, func(t *testing.T) {
			product := checked(t, "internal/a", "package a\n"+source+rest)
			result := product.closureFrom(product.function("internal/a.entry"))
			require.Contains(t, result.reached, ast.Node(product.bodies[product.function("internal/a.reached")]))
			require.NotContains(t, result.reached, ast.Node(product.bodies[product.function("internal/a.other")]))
		})
	}
}

// Only functions of the product that the reconcile reaches are counted.
func TestClosureFigures_CountFunctionsOfReconcile(t *testing.T) {
	api := "package v1alpha1\ntype Spec struct{}\n"
	stopped := "package template\ntype Tree struct{}\nfunc Parse() *Tree { return nil }\n"
	controller := fmt.Sprintf("package sidecar\nimport (\n%q\n%q\n)\n", module+"/internal/gotemplate", module+"/api/v1alpha1") + `
type VectorSidecarReconciler struct{ steps []step }
type step struct{}
func (r *VectorSidecarReconciler) Reconcile(spec v1alpha1.Spec) {
	for _, s := range r.steps {
		s.run(func() {})
	}
	template.Parse()
}
func (step) run(f func()) {
	f()
}
func unused() {}
`
	figures, err := checked(t, "api/v1alpha1", api, "internal/gotemplate", stopped, "internal/controller/sidecar", controller).closureFigures()
	require.NoError(t, err)
	require.Equal(t, []figure{
		count("closure_functions", 2), count("closure_files", 1), count("closure_packages", 1), countBar("closure_lines", 9), countBar("closure_own_types", 2),
	}, figures)

	_, err = checked(t, "internal/controller/sidecar", "package sidecar\n").closureFigures()
	require.ErrorContains(t, err, "finding the Reconcile method")
}
