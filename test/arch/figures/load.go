// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "kontroloop.ai/vector-sidecar-operator"

// code is the product: what is below api, cmd and internal, without tests and without
// what programs have written.
type code struct {
	fset     *token.FileSet
	packages []*packages.Package
	// bodies are the functions and methods that are declared, by what they declare.
	bodies map[*types.Func]*ast.FuncDecl
}

func load() (*code, error) {
	fset := token.NewFileSet()
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedDeps | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	found, err := packages.Load(&packages.Config{Mode: mode, Fset: fset}, module+"/api/...", module+"/cmd/...", module+"/internal/...")
	if err != nil {
		return nil, fmt.Errorf("loading the packages: %w", err)
	}
	c := &code{fset: fset, packages: found, bodies: map[*types.Func]*ast.FuncDecl{}}
	var failures []error
	for _, p := range found {
		for _, failure := range p.Errors {
			failures = append(failures, failure)
		}
		p.Syntax = slices.DeleteFunc(p.Syntax, ast.IsGenerated)
		for _, file := range p.Syntax {
			for _, declaration := range file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok {
					if declared, ok := p.TypesInfo.Defs[function.Name].(*types.Func); ok {
						c.bodies[declared] = function
					}
				}
			}
		}
	}
	return c, errors.Join(failures...)
}

// file is the path of what is at a place, from the folder of its package's parent on.
func (c *code) file(at token.Pos) string {
	path := c.fset.Position(at).Filename
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// short is the path of a package inside the module.
func short(path string) string { return strings.TrimPrefix(path, module+"/") }

// infoOf is what is known of the package in which something is declared, nil for
// packages of others.
func (c *code) infoOf(object types.Object) *types.Info {
	for _, p := range c.packages {
		if p.Types == object.Pkg() {
			return p.TypesInfo
		}
	}
	return nil
}
