// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"go/ast"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// wording is a rule of docs/language.md that a text search can check.
type wording struct {
	figure  string
	pattern *regexp.Regexp
	folders []string
}

var (
	codeFolders = []string{"api", "internal"}
	allFolders  = []string{"api", "internal", "docs"}

	wordings = []wording{
		{"vague_openings", regexp.MustCompile(`^\s*(//|-|\*)?\s*(What|Who|Whoever|Whose|That which|Nobody)\b`), allFolders},
		{"what_clauses_in_code", regexp.MustCompile(`\bwhat (is|was|it|they|the|has|have|a|does)\b`), codeFolders},
		{"words_for_people", regexp.MustCompile(`(?i)\b(nobody|somebody|anybody|whoever)\b`), allFolders},
		{"negated_nouns", regexp.MustCompile(`\b(is|are) no [a-z]+`), allFolders},
		{"replaced_words", regexp.MustCompile(`\b(anew|for ever|as ever|beside|thereby|nevertheless|likewise|in its place|let through|given out)\b`),
			[]string{"api", "internal", "docs", "chart"}},
	}

	// vagueSubject matches the start of a message that does not name the object.
	vagueSubject = regexp.MustCompile("^[\"`](it|its|that|they|there|one|nobody|what) ")
)

// languagePage quotes words that other pages must not use.
const languagePage = "docs/language.md"

// wordingFigures counts lines that break a wording, messages with a vague subject, and functions named xOf.
func wordingFigures(repository fs.FS, files []*goFile) ([]figure, error) {
	var figures []figure
	for _, rule := range wordings {
		broken := 0
		err := walk(repository, rule.folders, "", func(name string, text []byte) {
			if name == languagePage || !isProse(name, text) {
				return
			}
			for line := range bytes.Lines(text) {
				if rule.pattern.Match(line) {
					broken++
				}
			}
		})
		if err != nil {
			return nil, err
		}
		figures = append(figures, countBar(rule.figure, broken))
	}
	messages, functions := 0, 0
	for _, file := range files {
		if !file.isWritten() {
			continue
		}
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			switch node := node.(type) {
			case *ast.BasicLit:
				if node.Kind == token.STRING && vagueSubject.MatchString(node.Value) {
					messages++
				}
			case *ast.FuncDecl:
				if strings.HasSuffix(node.Name.Name, "Of") {
					functions++
				}
			}
			return true
		})
	}
	return append(figures, countBar("messages_with_a_vague_subject", messages), countBar("functions_named_of", functions)), nil
}

// isProse reports whether a file has text for readers that is not generated: code without tests, pages, values and
// templates.
func isProse(name string, text []byte) bool {
	return slices.Contains([]string{".go", ".md", ".yaml", ".tpl", ".txt"}, path.Ext(name)) && !strings.HasSuffix(name, "_test.go") &&
		!strings.Contains(name, "/testdata/") && !bytes.Contains(text[:min(len(text), 2000)], []byte("DO NOT EDIT"))
}
