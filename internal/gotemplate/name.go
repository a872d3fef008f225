// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"regexp"
	"slices"
	"strings"
	"text/template/parse"
)

// namePattern matches texts that templates compute: the constant parts of the text, in order, with any text between two
// parts. A pattern with one part matches only that constant.
type namePattern []string

// maxPatterns is the maximum number of patterns for one expression. maxPart is the maximum size of a constant
// part in bytes.
const (
	maxPatterns = 64
	maxPart     = 1 << 10
)

// matchAnyText returns the pattern that matches every text.
func matchAnyText() []namePattern { return []namePattern{{"", ""}} }

// isExact reports whether the pattern is a constant.
func (p namePattern) isExact() bool { return len(p) == 1 }

// matches reports whether a name matches the pattern.
func (p namePattern) matches(name string) bool {
	last := len(p) - 1
	remaining, hasStart := strings.CutPrefix(name, p[0])
	if last == 0 || !hasStart {
		return hasStart && remaining == ""
	}
	for _, fragment := range p[1:last] {
		i := strings.Index(remaining, fragment)
		if i < 0 {
			return false
		}
		remaining = remaining[i+len(fragment):]
	}
	return strings.HasSuffix(remaining, p[last])
}

// joinPatterns returns the patterns of all texts that consist of a text of the prefixes, followed by a text of
// the suffixes.
func joinPatterns(prefixes, suffixes []namePattern) []namePattern {
	if len(prefixes)*len(suffixes) > maxPatterns {
		return matchAnyText()
	}
	var patterns []namePattern
	for _, start := range prefixes {
		for _, end := range suffixes {
			last := len(start) - 1
			if len(start)+len(end) > maxPatterns || len(start[last])+len(end[0]) > maxPart {
				return matchAnyText()
			}
			patterns = append(patterns, slices.Concat(start[:last], namePattern{start[last] + end[0]}, end[1:]))
		}
	}
	return patterns
}

// nameFinder computes the patterns of the texts that the expressions in a template can have.
type nameFinder struct {
	// assigned contains the pipelines that assign values to each variable. isKey contains the variables that
	// get the keys of a range.
	assigned map[string][]*parse.PipeNode
	isKey    map[string]bool
	// variables caches the patterns of variables. While the patterns of a variable are computed, its entry is
	// matchAnyText.
	variables map[string][]namePattern
}

// newNameFinder returns a nameFinder with the assignments in a template.
func newNameFinder(root parse.Node) *nameFinder {
	f := &nameFinder{assigned: map[string][]*parse.PipeNode{}, isKey: map[string]bool{}, variables: map[string][]namePattern{}}
	walkNodes(root, func(node parse.Node) {
		pipe, isPipe := node.(*parse.PipeNode)
		if !isPipe {
			return
		}
		for n, variable := range pipe.Decl {
			name := variable.Ident[0]
			f.assigned[name] = append(f.assigned[name], pipe)
			f.isKey[name] = f.isKey[name] || n < len(pipe.Decl)-1
		}
	})
	return f
}

// patternsFor returns the patterns of the texts that an expression can have.
func (f *nameFinder) patternsFor(node parse.Node) []namePattern {
	switch node := node.(type) {
	case *parse.StringNode:
		return []namePattern{{node.Text}}
	case *parse.VariableNode:
		return f.variablePatterns(node)
	case *parse.PipeNode:
		return f.pipePatterns(node.Cmds)
	}
	return matchAnyText()
}

// pipePatterns returns the patterns of a pipeline's result. The result of each command is the last argument of the next
// command.
func (f *nameFinder) pipePatterns(commands []*parse.CommandNode) []namePattern {
	last := len(commands) - 1
	called, isCall := commands[last].Args[0].(*parse.IdentifierNode)
	if !isCall {
		if last == 0 && len(commands[0].Args) == 1 {
			return f.patternsFor(commands[0].Args[0])
		}
		return matchAnyText()
	}
	var arguments [][]namePattern
	for _, argument := range commands[last].Args[1:] {
		arguments = append(arguments, f.patternsFor(argument))
	}
	if last > 0 {
		arguments = append(arguments, f.pipePatterns(commands[:last]))
	}
	return callPatterns(called.Ident, arguments)
}

// variablePatterns returns the patterns of all values that the template assigns to a variable. A range assigns the
// items of a list. The items have the patterns of the list.
func (f *nameFinder) variablePatterns(node *parse.VariableNode) []namePattern {
	name := node.Ident[0]
	if len(node.Ident) > 1 || f.isKey[name] || len(f.assigned[name]) == 0 {
		return matchAnyText()
	}
	if patterns, ok := f.variables[name]; ok {
		return patterns
	}
	f.variables[name] = matchAnyText()
	var patterns []namePattern
	for _, pipe := range f.assigned[name] {
		patterns = append(patterns, f.pipePatterns(pipe.Cmds)...)
	}
	if len(patterns) > maxPatterns {
		patterns = matchAnyText()
	}
	f.variables[name] = patterns
	return patterns
}

// callPatterns returns the patterns of a function's result. The patterns of a list are the patterns of all of
// its items.
func callPatterns(function string, arguments [][]namePattern) []namePattern {
	switch {
	case len(arguments) == 0:
		return matchAnyText()
	case function == "printf":
		return formatPatterns(arguments[0], arguments[1:])
	case function == "print":
		patterns := arguments[0]
		for _, argument := range arguments[1:] {
			patterns = joinPatterns(patterns, argument)
		}
		return patterns
	case function == "ternary":
		return slices.Concat(arguments[:len(arguments)-1]...)
	case function == "required" && len(arguments) == 2:
		return arguments[1]
	case slices.Contains([]string{"default", "coalesce", "or", "and", "list", "tuple", "first", "last", "toString"}, function):
		return slices.Concat(arguments...)
	}
	return matchAnyText()
}

var verb = regexp.MustCompile(`%[+\-# 0-9.*\[\]]*.`)

// formatPatterns returns the patterns of the texts that printf returns for formats and arguments.
func formatPatterns(formats []namePattern, arguments [][]namePattern) (patterns []namePattern) {
	for _, format := range formats {
		if !format.isExact() || strings.ContainsAny(format[0], "[*") { // The arguments are not in the order of the verbs.
			return matchAnyText()
		}
		text, start, used := []namePattern{{""}}, 0, 0
		for _, span := range verb.FindAllStringIndex(format[0], -1) {
			replacement := matchAnyText()
			switch directive := format[0][span[0]:span[1]]; {
			case directive == "%%":
				replacement, used = []namePattern{{"%"}}, used-1
			case (directive == "%s" || directive == "%v") && used < len(arguments):
				replacement = arguments[used]
			}
			text = joinPatterns(joinPatterns(text, []namePattern{{format[0][start:span[0]]}}), replacement)
			start, used = span[1], used+1
		}
		patterns = append(patterns, joinPatterns(text, []namePattern{{format[0][start:]}})...)
	}
	return patterns
}
