// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package docs

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// qualified is a declaration as pages name it: FOLDER.NAME, or FOLDER.TYPE.METHOD. A star at the end stands for all
// names with that prefix.
var qualified = regexp.MustCompile(`^((?:api|cmd|internal|test)/[a-z0-9/]+)\.([A-Za-z]\w*(?:\.\w+|\*)?)$`)

// declaration is a named declaration of a package.
type declaration struct {
	name string
	// source is its source code and comment.
	source string
	// value is the value of a constant, nil for other declarations. isDuration reports whether it is in
	// nanoseconds.
	value      constant.Value
	isDuration bool
	// keys are the JSON names of a struct's fields.
	keys []string
}

// declared returns what a folder declares under a name, which may end in a star.
func declared(t *testing.T, folder, name string) []declaration {
	t.Helper()
	prefix, isPattern := strings.CutSuffix(name, "*")
	var found []declaration
	for _, one := range declarations(t, folder) {
		if one.name == name || isPattern && strings.HasPrefix(one.name, prefix) {
			found = append(found, one)
		}
	}
	return found
}

// parsedFolders caches declarations by folder.
var parsedFolders sync.Map

// declarations returns the top-level declarations and the methods of all files in a folder, tests included.
func declarations(t *testing.T, folder string) []declaration {
	t.Helper()
	if known, ok := parsedFolders.Load(folder); ok {
		return known.([]declaration)
	}
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	require.NoError(t, err)
	fset := token.NewFileSet()
	var product []*ast.File
	var found []declaration
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := parser.ParseFile(fset, file, text, parser.ParseComments)
		require.NoError(t, err)
		if !strings.HasSuffix(file, "_test.go") {
			product = append(product, parsed)
		}
		for _, decl := range parsed.Decls {
			found = append(found, declarationsOf(fset, text, decl)...)
		}
	}
	// Imports except the units of time stay unknown, so errors are expected.
	config := types.Config{Importer: unitsOfTime{}, Error: func(error) {}, IgnoreFuncBodies: true}
	if scope, _ := config.Check(folder, fset, product, nil); scope != nil {
		for i := range found {
			if one, ok := scope.Scope().Lookup(found[i].name).(*types.Const); ok && one.Val().Kind() != constant.Unknown {
				found[i].value, found[i].isDuration = one.Val(), one.Type().String() == "time.Duration"
			}
		}
	}
	parsedFolders.Store(folder, found)
	return found
}

// declarationsOf returns the names of one declaration. The name of a method is TYPE.METHOD.
func declarationsOf(fset *token.FileSet, text []byte, decl ast.Decl) []declaration {
	source := func(node ast.Node, doc *ast.CommentGroup) string {
		from := node.Pos()
		if doc != nil {
			from = doc.Pos()
		}
		return string(text[fset.Position(from).Offset:fset.Position(node.End()).Offset])
	}
	switch decl := decl.(type) {
	case *ast.FuncDecl:
		name := decl.Name.Name
		if decl.Recv != nil {
			name = strings.TrimPrefix(types.ExprString(decl.Recv.List[0].Type), "*") + "." + name
		}
		return []declaration{{name: name, source: source(decl, decl.Doc)}}
	case *ast.GenDecl:
		var found []declaration
		for _, spec := range decl.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				found = append(found, declaration{name: spec.Name.Name, source: source(spec, spec.Doc), keys: keysOf(spec.Type)})
			case *ast.ValueSpec:
				for _, name := range spec.Names {
					found = append(found, declaration{name: name.Name, source: source(spec, spec.Doc)})
				}
			}
		}
		return found
	}
	return nil
}

// keysOf returns the JSON names of a struct's fields.
func keysOf(expr ast.Expr) []string {
	of, ok := expr.(*ast.StructType)
	if !ok {
		return nil
	}
	var keys []string
	for _, field := range of.Fields.List {
		if field.Tag != nil {
			key, _, _ := strings.Cut(reflect.StructTag(strings.Trim(field.Tag.Value, "`")).Get("json"), ",")
			keys = append(keys, key)
		}
	}
	return keys
}

// unitsOfTime imports package time with only Duration and its units, and every other package empty, because the
// constants of this repository need no more.
type unitsOfTime struct{}

// Import implements types.Importer.
func (unitsOfTime) Import(path string) (*types.Package, error) {
	imported := types.NewPackage(path, filepath.Base(path))
	if path == "time" {
		name := types.NewTypeName(token.NoPos, imported, "Duration", nil)
		duration := types.NewNamed(name, types.Typ[types.Int64], nil)
		imported.Scope().Insert(name)
		for unit, length := range map[string]time.Duration{
			"Nanosecond": time.Nanosecond, "Microsecond": time.Microsecond, "Millisecond": time.Millisecond,
			"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
		} {
			imported.Scope().Insert(types.NewConst(token.NoPos, imported, unit, duration, constant.MakeInt64(int64(length))))
		}
	}
	imported.MarkComplete()
	return imported, nil
}
