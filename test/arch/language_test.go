// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package arch

import (
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/gotemplate"
)

// nodes lists the node types of Go's template parser, and how internal/gotemplate handles each.
var nodes = map[string]string{
	"NodeText": "frame.node", "NodeAction": "frame.node", "NodeIf": "frame.node", "NodeWith": "frame.node", "NodeRange": "frame.node",
	"NodeTemplate": "frame.node", "NodeBreak": "frame.node", "NodeContinue": "frame.node", "NodeList": "frame.list",
	"NodePipe": "frame.pipeline", "NodeCommand": "frame.command",
	"NodeField": "frame.chain", "NodeVariable": "frame.chain", "NodeChain": "frame.chain",
	"NodeIdentifier": "frame.call", "NodeDot": "frame.operandValue", "NodeNil": "frame.operandValue",
	"NodeBool": "frame.operandValue", "NodeString": "frame.operandValue", "NodeNumber": "frame.operandValue",
	"NodeComment": "the parser leaves it out", "nodeElse": "the parser keeps it to itself", "nodeEnd": "the parser keeps it to itself",
}

// keywords lists the keywords of the template language, for which the parser makes nodes.
var keywords = []string{".", "block", "break", "continue", "define", "else", "end", "if", "nil", "range", "template", "with"}

// goSource parses a file of the standard library.
func goSource(t *testing.T, name string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(build.Default.GOROOT, "src", filepath.FromSlash(name)), nil, 0)
	require.NoError(t, err)
	return file
}

// keysIn returns the constant keys of the first composite literal in a declaration.
func keysIn(t *testing.T, file *ast.File, name string) []string {
	t.Helper()
	var keys []string
	ast.Inspect(file, func(node ast.Node) bool {
		var body ast.Node
		switch node := node.(type) {
		case *ast.FuncDecl:
			if node.Name.Name == name {
				body = node.Body
			}
		case *ast.ValueSpec:
			if node.Names[0].Name == name {
				body = node
			}
		}
		if body == nil {
			return true
		}
		ast.Inspect(body, func(node ast.Node) bool {
			if pair, ok := node.(*ast.KeyValueExpr); ok {
				if key, ok := pair.Key.(*ast.BasicLit); ok {
					text, err := strconv.Unquote(key.Value)
					require.NoError(t, err)
					keys = append(keys, text)
				}
			}
			return true
		})
		return false
	})
	require.NotEmpty(t, keys, "%s is not where it was: look anew", name)
	slices.Sort(keys)
	return keys
}

// internal/gotemplate walks the syntax trees of templates itself. If a Go version adds a node type or a keyword, this
// test fails until both have it.
func TestArch_ListsEveryTemplateNode(t *testing.T) {
	var made []string
	for _, declaration := range goSource(t, "text/template/parse/node.go").Decls {
		constants, ok := declaration.(*ast.GenDecl)
		if !ok || constants.Tok != token.CONST {
			continue
		}
		for _, spec := range constants.Specs {
			for _, name := range spec.(*ast.ValueSpec).Names {
				if strings.HasPrefix(strings.ToLower(name.Name), "node") {
					made = append(made, name.Name)
				}
			}
		}
	}
	require.Len(t, made, len(nodes), "%v", made)
	for _, name := range made {
		require.Contains(t, nodes, name, "a new node of text/template/parse: internal/gotemplate has to execute it, to check it and to name its values")
	}
	words := keysIn(t, goSource(t, "text/template/parse/lex.go"), "key")
	require.Equal(t, keywords, words, "a new keyword of templates: what does the parser make of it?")
}

// If a Go version adds a builtin template function, internal/gotemplate must have it or reject it with a reason.
func TestArch_ListsEveryBuiltinTemplateFunction(t *testing.T) {
	for _, name := range keysIn(t, goSource(t, "text/template/funcs.go"), "builtins") {
		_, err := gotemplate.Compile(map[string]string{"templates/a.yaml": "{{ " + name + " }}"}, gotemplate.Options{})
		if err != nil {
			require.ErrorContains(t, err, "is not available", "%s is a builtin function that internal/gotemplate does not know", name)
		}
	}
}
