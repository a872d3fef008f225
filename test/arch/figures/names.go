// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"embed"
	"fmt"
	"go/ast"
	"go/token"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode"
)

//go:embed words
var lists embed.FS

// readList returns the entries of a list in words/: its lines, without comments.
func readList(name string) ([]string, error) {
	text, err := lists.ReadFile(path.Join("words", name+".txt"))
	if err != nil {
		return nil, err
	}
	var entries []string
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			entries = append(entries, line)
		}
	}
	return entries, nil
}

func readWords(name string) (map[string]bool, error) {
	entries, err := readList(name)
	words := map[string]bool{}
	for _, entry := range entries {
		words[entry] = true
	}
	return words, err
}

// identifiers are the names that the product declares, each as often as it is declared. Local names are parameters,
// results, and variables and constants of functions; declared names are all others, with fields and methods of interfaces.
type identifiers struct {
	local, declared []string
}

// nameFigures counts the names that consist only of function words, by each of the two lists.
func nameFigures(files []*goFile) ([]figure, error) {
	names := &identifiers{}
	for _, file := range files {
		if file.isWritten() {
			names.addFile(file.syntax)
		}
	}
	var figures []figure
	for _, list := range []string{"strict", "wide"} {
		words, err := readWords(list)
		if err != nil {
			return nil, err
		}
		isCounted := func(name string) bool { return isFunctionWord(name, words) }
		figures = append(figures,
			bar(list+"_local_percent", percentOf(names.local, isCounted), 2),
			bar(list+"_declared_percent", percentOf(names.declared, isCounted), 2))
		figures = append(figures, mostFrequent(list+"_name_", slices.Concat(names.local, names.declared), isCounted)...)
	}
	return figures, nil
}

func (n *identifiers) addFile(file *ast.File) {
	for _, declaration := range file.Decls {
		if group, ok := declaration.(*ast.GenDecl); ok {
			n.declared = append(n.declared, groupNames(group)...)
		}
		ast.Inspect(declaration, func(node ast.Node) bool {
			n.addNode(node)
			return true
		})
	}
}

// addNode adds the names that a node declares, without those of the nodes below it.
func (n *identifiers) addNode(node ast.Node) {
	switch node := node.(type) {
	case *ast.FuncDecl:
		n.addDeclared(node.Name)
		n.addSignature(node.Type)
	case *ast.FuncLit:
		n.addSignature(node.Type)
	case *ast.StructType:
		n.addDeclared(fieldNames(node.Fields)...)
	case *ast.InterfaceType:
		n.addDeclared(fieldNames(node.Methods)...)
	case *ast.DeclStmt:
		if group, ok := node.Decl.(*ast.GenDecl); ok && group.Tok != token.TYPE {
			n.local = append(n.local, groupNames(group)...)
		}
	case *ast.AssignStmt:
		if node.Tok == token.DEFINE {
			n.addLocal(node.Lhs...)
		}
	case *ast.RangeStmt:
		if node.Tok == token.DEFINE {
			n.addLocal(node.Key, node.Value)
		}
	}
}

func (n *identifiers) addSignature(function *ast.FuncType) {
	for _, fields := range []*ast.FieldList{function.Params, function.Results} {
		for _, name := range fieldNames(fields) {
			n.local = append(n.local, name.Name)
		}
	}
}

func (n *identifiers) addDeclared(names ...*ast.Ident) {
	for _, name := range names {
		n.declared = append(n.declared, name.Name)
	}
}

func (n *identifiers) addLocal(expressions ...ast.Expr) {
	for _, expression := range expressions {
		if name, ok := expression.(*ast.Ident); ok {
			n.local = append(n.local, name.Name)
		}
	}
}

// groupNames returns the types, variables and constants of a declaration.
func groupNames(group *ast.GenDecl) []string {
	var names []string
	for _, spec := range group.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			names = append(names, spec.Name.Name)
		case *ast.ValueSpec:
			for _, name := range spec.Names {
				names = append(names, name.Name)
			}
		}
	}
	return names
}

func fieldNames(fields *ast.FieldList) []*ast.Ident {
	var names []*ast.Ident
	if fields != nil {
		for _, field := range fields.List {
			names = append(names, field.Names...)
		}
	}
	return names
}

// percentOf returns the share of the names for which isCounted is true. The blank identifier is no part of the total.
func percentOf(names []string, isCounted func(string) bool) float64 {
	total, counted := 0, 0
	for _, name := range names {
		if name == "_" {
			continue
		}
		total++
		if isCounted(name) {
			counted++
		}
	}
	return ratio(100, counted, total)
}

// mostFrequent returns the twenty names that are counted most often.
func mostFrequent(prefix string, names []string, isCounted func(string) bool) []figure {
	counts := map[string]int{}
	for _, name := range names {
		if isCounted(name) {
			counts[name]++
		}
	}
	ordered := slices.SortedFunc(maps.Keys(counts), func(a, b string) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b))
	})
	var figures []figure
	for _, name := range ordered[:min(20, len(ordered))] {
		figures = append(figures, count(fmt.Sprint(prefix, name), counts[name]))
	}
	return figures
}

// isFunctionWord reports whether a name consists only of words of a list. A name of one letter, and a predicate (is, has
// or can, and one word) are not counted.
func isFunctionWord(name string, words map[string]bool) bool {
	if len(name) == 1 {
		return false
	}
	parts := splitName(name)
	if len(parts) == 0 || len(parts) == 2 && slices.Contains([]string{"is", "has", "can"}, parts[0]) {
		return false
	}
	return !slices.ContainsFunc(parts, func(part string) bool { return !words[part] })
}

// splitName returns the words of a name in lower case: HTTPServer is "http" and "server".
func splitName(name string) []string {
	var parts []string
	for piece := range strings.SplitSeq(name, "_") {
		letters := []rune(piece)
		start := 0
		for i := 1; i < len(letters); i++ {
			isAfterWord := unicode.IsLower(letters[i-1])
			isBeforeWord := i+1 < len(letters) && unicode.IsLower(letters[i+1])
			if unicode.IsUpper(letters[i]) && (isAfterWord || isBeforeWord) {
				parts = append(parts, strings.ToLower(string(letters[start:i])))
				start = i
			}
		}
		if start < len(letters) {
			parts = append(parts, strings.ToLower(string(letters[start:])))
		}
	}
	return parts
}
