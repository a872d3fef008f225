// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

const fullName = "vectorsidecars.observability.kontroloop.ai"

// If several kinds share a short name, kubectl uses the first one. The short name vs is that of Istio's
// VirtualServices, so a copied command could delete these.
func TestVectorSidecar_HasNoShortName(t *testing.T) {
	text, err := os.ReadFile(root + "/chart/files/crds/observability.kontroloop.ai_vectorsidecars.yaml")
	require.NoError(t, err)
	var definition apiextensionsv1.CustomResourceDefinition
	require.NoError(t, yaml.Unmarshal(text, &definition))
	require.Empty(t, definition.Spec.Names.ShortNames)
	require.Equal(t, []string{"observability"}, definition.Spec.Names.Categories)
	require.Equal(t, "vectorsidecars", definition.Spec.Names.Plural)
}

var (
	// shortName matches a command with the short name as its kind, alone or with other kinds.
	shortName = regexp.MustCompile("\\b(get|describe|explain|patch|edit|label|annotate|wait|delete)\\b([^|;&`]*[\\s,])?vs([/,\\s\"'`]|$)")
	// deleted matches the kinds that a command deletes, with or without names.
	deleted = regexp.MustCompile("\\bdelete\\s+(?:-\\S+\\s+)*([a-z][^\\s\"'`]*)")
	// ours matches the names of the product's kind.
	ours = regexp.MustCompile(`^(vs|vectorsidecars?)(\.|/|$)`)
)

// Commands in pages, notes, samples and programs use the plural name of a kind, and for deletions also its group. So a
// copied command deletes no other objects.
func TestArch_RequiresFullResourceNamesInCommands(t *testing.T) {
	deletions := 0
	files(t, func(path string, text []byte) {
		for _, command := range commandsIn(t, path, text) {
			require.False(t, shortName.MatchString(command), "%s uses a short name: %s", path, command)
			for _, match := range deleted.FindAllStringSubmatch(command, -1) {
				for kind := range strings.SplitSeq(match[1], ",") {
					if ours.MatchString(kind) {
						name, _, _ := strings.Cut(kind, "/")
						require.Equal(t, fullName, name, "%s deletes without the full name: %s", path, command)
						deletions++
					}
				}
			}
		}
	})
	require.Greater(t, deletions, 5, "these are not the commands")
}

// The test of commands finds a command with a short name in sample texts.
func TestArch_DetectsCommandsWithShortName(t *testing.T) {
	for _, command := range []string{
		"kubectl get vs -A", "kubectl get vs,pods", "kubectl get pods,vs", "kubectl delete vs/logs", "kubectl -n shop describe vs logs", "see `kubectl get vs`",
	} {
		require.True(t, shortName.MatchString(command), command)
	}
	for _, command := range []string{"kubectl get vsphere", "kubectl get pods -l app=vs-1", "kubectl get vectorsidecars -A", "helm upgrade vs ."} {
		require.False(t, shortName.MatchString(command), command)
	}
}

// commandsIn returns the lines of a file that call kubectl. In Go files, these are strings, and the strings of one
// call as one line.
func commandsIn(t *testing.T, path string, text []byte) []string {
	t.Helper()
	if path == "test/arch/resources_test.go" {
		return nil // It names what is wrong.
	}
	if !strings.HasSuffix(path, ".go") {
		return calls(string(text))
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
	require.NoError(t, err)
	var found []string
	ast.Inspect(parsed, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.BasicLit:
			found = append(found, calls(value(node))...)
		case *ast.CallExpr:
			var given []string
			for _, argument := range node.Args {
				given = append(given, value(argument))
			}
			if strings.Contains(strings.ToLower(called(node)), "kubectl") || len(given) > 0 && given[0] == "kubectl" {
				found = append(found, strings.Join(given, " "))
			}
		}
		return true
	})
	return found
}

func calls(text string) []string {
	var lines []string
	for line := range strings.Lines(text) {
		if strings.Contains(line, "kubectl") {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	return lines
}

// value returns the value of a string literal, "" for other nodes.
func value(node ast.Expr) string {
	literal, ok := node.(*ast.BasicLit)
	if !ok || literal.Kind != token.STRING {
		return ""
	}
	text, err := strconv.Unquote(literal.Value)
	if err != nil {
		return ""
	}
	return text
}

// called returns the name of the called function or method.
func called(call *ast.CallExpr) string {
	switch function := call.Fun.(type) {
	case *ast.Ident:
		return function.Name
	case *ast.SelectorExpr:
		return function.Sel.Name
	}
	return ""
}
