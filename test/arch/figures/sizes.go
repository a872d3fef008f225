// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/types"
	"io/fs"
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
	return append([]figure{
		count("packages_below_internal", internal),
		count("packages_in_longest_import_chain", deepest),
	}, spread("exported_names_of_package", exports)...)
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

// sizeFigures counts lines, and types that consist of too many parts.
func (c *code) sizeFigures() []figure {
	var files, functions []int
	deployments := 0
	for _, p := range c.packages {
		for _, file := range p.Syntax {
			files = append(files, c.lines(file))
			if mentions(file, "Deployment") {
				deployments++
			}
			for _, declaration := range file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok {
					functions = append(functions, c.lines(function))
				}
			}
		}
	}
	return slices.Concat(spread("file_lines", files), spread("function_lines", functions), []figure{
		count("files_that_name_a_deployment", deployments),
		count("crowded_types", len(c.crowdedTypes())),
	})
}

// crowdedTypes returns the types with more than 12 fields that are not data, with the number of these fields.
func (c *code) crowdedTypes() []string {
	var crowded []string
	for _, p := range c.packages {
		for _, declared := range p.TypesInfo.Defs {
			declared, ok := declared.(*types.TypeName)
			if ok && tools(declared) > 12 {
				crowded = append(crowded, fmt.Sprintf("%s.%s (%d)", p.Name, declared.Name(), tools(declared)))
			}
		}
	}
	slices.Sort(crowded)
	return crowded
}

func (c *code) lines(node ast.Node) int {
	return c.fset.Position(node.End()).Line - c.fset.Position(node.Pos()).Line + 1
}

// mentions reports whether an identifier or a string of a file contains a word.
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

// tools counts the fields of a struct that are not data: functions, channels, interfaces, and pointers to types
// with methods.
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

// countTexts counts lines and words of files: code, tests, golden files, the README.
func countTexts(repository fs.FS) ([]figure, error) {
	code, inside, beside := 0, 0, 0
	err := walk(repository, []string{"api", "cmd", "internal", "test"}, ".go", func(path string, text []byte) {
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
	err = walk(repository, []string{"test/golden"}, "", func(path string, text []byte) {
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
	readme, err := fs.ReadFile(repository, "README.md")
	if err != nil {
		return nil, err
	}
	return []figure{
		count("product_lines", code),
		{name: "unit_test_lines_per_product_line", value: ratio(1, inside, code), digits: 2},
		{name: "test_lines_per_product_line", value: ratio(1, inside+beside, code), digits: 2},
		count("golden_lines", golden),
		count("golden_distinct_lines", len(distinct)),
		count("readme_words", len(bytes.Fields(readme))),
	}, nil
}

func walk(repository fs.FS, folders []string, ending string, visit func(path string, text []byte)) error {
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
