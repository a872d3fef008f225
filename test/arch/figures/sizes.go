// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
	"os"
	"slices"
	"strings"
)

// packageFigures counts packages, how deep their imports go, and what they export.
func (c *code) packageFigures() []figure {
	depth := map[string]int{}
	var deep func(path string) int
	imports := map[string][]string{}
	for _, p := range c.packages {
		for path := range p.Imports {
			if strings.HasPrefix(path, module) {
				imports[p.PkgPath] = append(imports[p.PkgPath], path)
			}
		}
	}
	deep = func(path string) int {
		if depth[path] == 0 {
			depth[path] = 1
			for _, imported := range imports[path] {
				depth[path] = max(depth[path], 1+deep(imported))
			}
		}
		return depth[path]
	}
	deepest, internal := 0, 0
	var exports []int
	for _, p := range c.packages {
		deepest = max(deepest, deep(p.PkgPath))
		if strings.HasPrefix(short(p.PkgPath), "internal/") {
			internal++
			exports = append(exports, exported(p.Types.Scope()))
		}
	}
	return []figure{
		{"packages below internal", fmt.Sprint(internal)},
		{"packages that import one another in the longest chain", fmt.Sprint(deepest)},
		{"exported names of a package below internal", spread(exports)},
	}
}

func exported(scope *types.Scope) int {
	count := 0
	for _, name := range scope.Names() {
		if scope.Lookup(name).Exported() {
			count++
		}
	}
	return count
}

// sizeFigures counts lines, and what is in types.
func (c *code) sizeFigures() []figure {
	var files, functions []int
	deployments, crowded := 0, []string{}
	for _, p := range c.packages {
		for _, file := range p.Syntax {
			files = append(files, c.lines(file))
			if mentions(file, "Deployment") {
				deployments++
			}
			ast.Inspect(file, func(node ast.Node) bool {
				switch node := node.(type) {
				case *ast.FuncDecl:
					functions = append(functions, c.lines(node))
				case *ast.TypeSpec:
					if count := tools(p.TypesInfo.Defs[node.Name]); count > 12 {
						crowded = append(crowded, fmt.Sprintf("%s.%s (%d)", p.Name, node.Name.Name, count))
					}
				}
				return true
			})
		}
	}
	slices.Sort(crowded)
	return []figure{
		{"lines of a file", spread(files)},
		{"lines of a function", spread(functions)},
		{"files that name a Deployment", fmt.Sprint(deployments)},
		{"types with more than 12 fields that are not data", cmp.Or(strings.Join(crowded, ", "), "none")},
	}
}

func (c *code) lines(node ast.Node) int {
	return c.fset.Position(node.End()).Line - c.fset.Position(node.Pos()).Line + 1
}

// mentions reports whether an identifier or a text of a file has a word in it.
func mentions(file *ast.File, word string) bool {
	found := false
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.Ident:
			found = found || strings.Contains(node.Name, word)
		case *ast.BasicLit:
			found = found || strings.Contains(node.Value, word)
		}
		return !found
	})
	return found
}

// tools counts the fields of a struct that do something: functions, channels,
// interfaces, and pointers to what has methods.
func tools(declared types.Object) int {
	if declared == nil {
		return 0
	}
	fields, ok := declared.Type().Underlying().(*types.Struct)
	if !ok {
		return 0
	}
	count := 0
	for field := range fields.Fields() {
		switch of := field.Type().Underlying().(type) {
		case *types.Signature, *types.Chan, *types.Interface:
			count++
		case *types.Pointer:
			if types.NewMethodSet(of).Len() > 0 || types.NewMethodSet(field.Type()).Len() > 0 {
				count++
			}
		}
	}
	return count
}

// countTexts counts what is no code of the product: tests, goldens, the README.
func countTexts() ([]figure, error) {
	code, inside, beside := 0, 0, 0
	err := walk([]string{"api", "cmd", "internal", "test"}, ".go", func(path string, text []byte) {
		lines := bytes.Count(text, []byte("\n"))
		switch isTest := strings.HasSuffix(path, "_test.go"); {
		case strings.HasPrefix(path, "test/"):
			beside += lines
		case isTest:
			inside += lines
		case !bytes.Contains(text, []byte("// Code generated ")):
			code += lines
		}
	})
	if err != nil {
		return nil, err
	}
	golden, distinct := 0, map[string]bool{}
	err = walk([]string{"test/golden"}, "", func(path string, text []byte) {
		if strings.HasSuffix(path, ".go") {
			return
		}
		for line := range bytes.Lines(text) {
			golden++
			distinct[string(line)] = true
		}
	})
	if err != nil {
		return nil, err
	}
	readme, err := os.ReadFile("README.md")
	if err != nil {
		return nil, err
	}
	return []figure{
		{"lines of the product's code", fmt.Sprint(code)},
		{"lines of tests for one of code, beside it and in all", fmt.Sprintf("%.2f, %.2f", float64(inside)/float64(code), float64(inside+beside)/float64(code))},
		{"golden lines, and distinct ones", fmt.Sprintf("%d, %d", golden, len(distinct))},
		{"words of the README", fmt.Sprint(len(bytes.Fields(readme)))},
	}, nil
}

func walk(folders []string, ending string, visit func(path string, text []byte)) error {
	repository := os.DirFS(".")
	for _, folder := range folders {
		err := fs.WalkDir(repository, folder, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ending) {
				return err
			}
			text, err := fs.ReadFile(repository, path)
			if err == nil {
				visit(path, text)
			}
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
