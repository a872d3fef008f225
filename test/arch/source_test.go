// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

const longest = 400

// longestValues is the limit of the installation chart's values.yaml, which has a comment for each value and cannot be split.
const longestValues = 500

func TestArch_RequiresPackageComments(t *testing.T) {
	for _, one := range packages(t) {
		entries, err := filepath.Glob(filepath.Join(one.Dir, "*.go"))
		require.NoError(t, err)
		documented := slices.ContainsFunc(entries, func(file string) bool {
			parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.PackageClauseOnly|parser.ParseComments)
			require.NoError(t, err)
			return strings.HasPrefix(parsed.Doc.Text(), "Package ") || strings.HasPrefix(parsed.Doc.Text(), "Command ")
		})
		require.True(t, documented, "%s has no package comment", short(one.ImportPath))
	}
}

// The package comment of the root package lists every package.
func TestArch_ListsEveryPackageInRootComment(t *testing.T) {
	var there []string
	for _, one := range packages(t) {
		if name := short(one.ImportPath); strings.HasPrefix(name, "internal/") || strings.HasPrefix(name, "cmd/") || strings.HasPrefix(name, "api/") {
			there = append(there, name)
		}
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, "embed.go"), nil, parser.PackageClauseOnly|parser.ParseComments)
	require.NoError(t, err)
	named := regexp.MustCompile(`\b(?:api|cmd|internal)(?:/[\w-]+)+`).FindAllString(parsed.Doc.Text(), -1)
	slices.Sort(named)
	require.ElementsMatch(t, there, slices.Compact(named))
}

func TestArch_RequiresLicenseHeaders(t *testing.T) {
	kinds := []string{".go", ".yaml", ".yml", ".tpl", ".txtar", ".mod", ".sh"}
	names := []string{"Makefile", "PROJECT", ".helmignore", ".gitignore", "run"}
	files(t, func(file string, text []byte) {
		if !slices.Contains(kinds, path.Ext(file)) && !slices.Contains(names, path.Base(file)) || path.Base(file) == "go.mod" {
			return
		}
		head := strings.Join(firstLines(string(text), 5), "\n")
		require.Regexp(t, `SPDX-FileCopyrightText: 20\d\d The Vector Sidecar Operator Authors\n[# /]*SPDX-License-Identifier: Apache-2\.0`, head, file)
	})
}

func firstLines(text string, n int) []string {
	lines := strings.SplitN(text, "\n", n+1)
	return lines[:min(n, len(lines))]
}

func TestArch_LimitsFileLength(t *testing.T) {
	files(t, func(file string, text []byte) {
		isCode := slices.Contains([]string{".go", ".yaml", ".tpl"}, path.Ext(file)) || path.Base(file) == "Makefile"
		if !isCode || strings.HasSuffix(file, "_test.go") || strings.HasSuffix(file, "_test.yaml") || isGenerated(file, text) {
			return
		}
		limit := longest
		if file == "chart/values.yaml" {
			limit = longestValues
		}
		require.LessOrEqual(t, bytes.Count(text, []byte("\n")), limit, file)
	})
}

func TestArch_RequiresEqualChartVersions(t *testing.T) {
	var sidecar, installation struct{ Version, AppVersion, KubeVersion string }
	require.NoError(t, yaml.Unmarshal(content(t, "Chart.yaml"), &sidecar))
	require.NoError(t, yaml.Unmarshal(content(t, "chart/Chart.yaml"), &installation))
	require.NotEmpty(t, sidecar.Version)
	require.Equal(t, sidecar, installation, "both charts are released with the operator")
	require.Equal(t, sidecar.Version, sidecar.AppVersion)
}

// A tool may require a later patch release of Go, but no other minor version.
func TestArch_RequiresSameGoMinorVersion(t *testing.T) {
	directive := regexp.MustCompile(`(?m)^go (\d+\.\d+)`)
	want := directive.FindSubmatch(content(t, "go.mod"))
	require.NotNil(t, want)
	tools, err := filepath.Glob(filepath.Join(root, "test", "tools", "*", "go.mod"))
	require.NoError(t, err)
	require.NotEmpty(t, tools)
	for _, file := range tools {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		require.Equal(t, string(want[0]), string(directive.Find(text)), file)
	}
}

func content(t *testing.T, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, name))
	require.NoError(t, err)
	return text
}

// mayWrite lists the calls outside package apply that change objects in a cluster.
var mayWrite = []string{
	"internal/source/permissions.go: p.client.Create", // A review asks a question, and nothing is stored.
}

// Only package apply writes objects and statuses.
func TestArch_AllowsWritesOnlyInApply(t *testing.T) {
	var found []string
	files(t, func(file string, text []byte) {
		if !strings.HasPrefix(file, "internal/") || path.Ext(file) != ".go" || strings.HasSuffix(file, "_test.go") {
			return
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(parsed, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok && isWrite(call) && !strings.HasPrefix(file, "internal/apply/") {
				found = append(found, fmt.Sprintf("%s: %s", file, types.ExprString(call.Fun)))
			}
			return true
		})
	})
	slices.Sort(found)
	require.Equal(t, mayWrite, found)
}

// isWrite reports whether a call is a write method of a client, by the names that clients have in this code.
func isWrite(call *ast.CallExpr) bool {
	method, ok := call.Fun.(*ast.SelectorExpr)
	if !ok || !slices.Contains([]string{"Create", "Update", "Patch", "Delete", "DeleteAllOf", "Apply"}, method.Sel.Name) {
		return false
	}
	receiver := types.ExprString(method.X)
	return strings.Contains(strings.ToLower(receiver), "client") || strings.Contains(receiver, "Status()")
}
