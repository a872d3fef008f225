// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"go/types"
	"iter"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

const module = "kontroloop.ai/vector-sidecar-operator"

// code is the type-checked product: the packages below api, cmd and internal, without tests.
type code struct {
	fset     *token.FileSet
	packages []*packages.Package
	// generated are the generated files. The Syntax of their package does not contain them.
	generated map[*packages.Package][]*ast.File
	// bodies are the declarations of functions and methods.
	bodies map[*types.Func]*ast.FuncDecl
}

// load reads the types of libraries from the build cache, which takes seconds less than checking their sources.
func load() (*code, error) {
	fset := token.NewFileSet()
	mode := packages.NeedName | packages.NeedFiles | packages.NeedImports | packages.NeedSyntax | packages.NeedTypes | packages.NeedTypesInfo
	loaded, err := packages.Load(&packages.Config{Mode: mode, Fset: fset}, module+"/api/...", module+"/cmd/...", module+"/internal/...")
	if err != nil {
		return nil, fmt.Errorf("loading the packages: %w", err)
	}
	var failures []error
	for _, p := range loaded {
		for _, failure := range p.Errors {
			failures = append(failures, failure)
		}
	}
	return newCode(fset, loaded), errors.Join(failures...)
}

func newCode(fset *token.FileSet, loaded []*packages.Package) *code {
	c := &code{fset: fset, packages: loaded, generated: map[*packages.Package][]*ast.File{}, bodies: map[*types.Func]*ast.FuncDecl{}}
	for _, p := range loaded {
		var written []*ast.File
		for _, file := range p.Syntax {
			if ast.IsGenerated(file) {
				c.generated[p] = append(c.generated[p], file)
			} else {
				written = append(written, file)
			}
			for _, declaration := range file.Decls {
				if function, ok := declaration.(*ast.FuncDecl); ok {
					if declared, ok := p.TypesInfo.Defs[function.Name].(*types.Func); ok {
						c.bodies[declared] = function
					}
				}
			}
		}
		p.Syntax = written
	}
	return c
}

// file returns the path of the file at a position, starting with the parent folder of its package.
func (c *code) file(at token.Pos) string {
	path := c.fset.Position(at).Filename
	return filepath.Join(filepath.Base(filepath.Dir(path)), filepath.Base(path))
}

// short returns the path of a package inside the module.
func short(path string) string { return strings.TrimPrefix(path, module+"/") }

// packageFor returns the package that declares an object, nil for a library's.
func (c *code) packageFor(object types.Object) *packages.Package {
	for _, p := range c.packages {
		if p.Types == object.Pkg() {
			return p
		}
	}
	return nil
}

// typedFile is a file below internal that is not generated, with its package.
type typedFile struct {
	pkg    *packages.Package
	syntax *ast.File
}

func (f typedFile) info() *types.Info { return f.pkg.TypesInfo }

// folder is the first folder below internal on the path of the file.
func (f typedFile) folder() string {
	folder, _, _ := strings.Cut(strings.TrimPrefix(short(f.pkg.PkgPath), "internal/"), "/")
	return folder
}

// internalFiles returns the files below internal, without generated ones.
func (c *code) internalFiles() iter.Seq[typedFile] {
	return func(yield func(typedFile) bool) {
		for _, p := range c.packages {
			if !strings.HasPrefix(p.PkgPath, module+"/internal/") {
				continue
			}
			for _, file := range p.Syntax {
				if !yield(typedFile{p, file}) {
					return
				}
			}
		}
	}
}

// objectNamed returns the object that an identifier, selector or indexed expression names, or nil.
func objectNamed(info *types.Info, expression ast.Expr) types.Object {
	switch e := ast.Unparen(expression).(type) {
	case *ast.Ident:
		return info.ObjectOf(e)
	case *ast.SelectorExpr:
		return info.ObjectOf(e.Sel)
	case *ast.IndexExpr:
		return objectNamed(info, e.X)
	}
	return nil
}

// namedType returns the named type inside pointers, slices, arrays, maps and channels, or nil.
func namedType(t types.Type) *types.Named {
	switch t := types.Unalias(t).(type) {
	case *types.Named:
		return t
	case interface{ Elem() types.Type }:
		return namedType(t.Elem())
	}
	return nil
}
