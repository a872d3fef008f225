// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	root   = "../.."
	module = "kontroloop.ai/vector-sidecar-operator"
)

// goPackage is the output of `go list` for a package. Imports are only those of its code, not of its tests.
type goPackage struct {
	ImportPath, Dir string
	Imports         []string
}

// short returns the path inside the module, "." for the root.
func short(importPath string) string {
	if importPath == module {
		return "."
	}
	return strings.TrimPrefix(importPath, module+"/")
}

func packages(t *testing.T) []goPackage {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "list", "-json=ImportPath,Dir,Imports", "./...")
	command.Dir = root
	command.Stderr = os.Stderr
	out, err := command.Output()
	require.NoError(t, err)
	var all []goPackage
	for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
		var one goPackage
		require.NoError(t, decoder.Decode(&one))
		all = append(all, one)
	}
	require.NotEmpty(t, all)
	return all
}

// outside lists the folders that are not checked: built, downloaded, or the input of tests.
var outside = []string{"bin", ".git", "testdata", "base", "vendor", "node_modules"}

// files calls visit for each file of the repository, with its path in it.
func files(t *testing.T, visit func(path string, text []byte)) {
	t.Helper()
	seen := 0
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains(outside, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		seen++
		visit(filepath.ToSlash(name), text)
		return err
	})
	require.NoError(t, err)
	require.Greater(t, seen, 100, "this is not the repository")
}

// isGenerated reports whether a file is generated.
func isGenerated(path string, text []byte) bool {
	first, _, _ := bytes.Cut(text, []byte("\npackage "))
	return bytes.Contains(first, []byte("// Code generated ")) || strings.HasPrefix(path, "chart/files/crds/")
}
