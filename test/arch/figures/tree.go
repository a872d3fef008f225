// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// goFile is a parsed file of the module, with its path inside the repository.
type goFile struct {
	path   string
	source []byte
	syntax *ast.File
	fset   *token.FileSet
}

func (f *goFile) isTest() bool { return strings.HasSuffix(f.path, "_test.go") }

// isWritten reports whether the file is code of the product below internal and not generated.
func (f *goFile) isWritten() bool {
	return strings.HasPrefix(f.path, "internal/") && !f.isTest() && !ast.IsGenerated(f.syntax)
}

// parseModule parses all Go files of the module, for any platform. Nested modules and test data are not part of it.
func parseModule(repository fs.FS) ([]*goFile, error) {
	var files []*goFile
	fset := token.NewFileSet()
	err := fs.WalkDir(repository, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && isOutside(repository, name) {
				return fs.SkipDir
			}
			return nil
		}
		if path.Ext(name) != ".go" {
			return nil
		}
		source, err := fs.ReadFile(repository, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(fset, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parsing %s: %w", name, err)
		}
		files = append(files, &goFile{path: name, source: source, syntax: syntax, fset: fset})
		return nil
	})
	return files, err
}

// isOutside reports whether a folder does not belong to the module.
func isOutside(repository fs.FS, folder string) bool {
	base := path.Base(folder)
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") {
		return true
	}
	_, err := fs.Stat(repository, path.Join(folder, "go.mod"))
	return err == nil
}

// repositoryRoot returns the folder that contains go.mod, the current one or one above.
func repositoryRoot() (string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return folder, nil
		}
		if filepath.Dir(folder) == folder {
			return "", fmt.Errorf("finding go.mod: %w", fs.ErrNotExist)
		}
		folder = filepath.Dir(folder)
	}
}
