// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"text/template/parse"
)

// These constants are limits of the text that Compile parses. They make Compile as safe as Execute, because the
// parser recurses into blocks and allocates at least a hundred bytes for each byte of an action.
const (
	maxText        = 1 << 20
	maxActions     = 20_000
	maxActionBytes = 256 << 10
	bytesPerAction = 150
)

// definition is one template: a file or a define in a file.
type definition struct {
	source *source
	name   string
	root   *parse.ListNode
	// isEmpty reports whether the definition contains only whitespace and comments.
	isEmpty bool
}

// scope finds templates by name. In a text of tpl, the definitions in the text take precedence over the
// definitions of the set. As in text/template, an empty definition does not replace another definition.
type scope struct {
	outer       *scope
	definitions map[string]*definition
}

// findDefinition returns the innermost definition with a name that is not empty. If all of them are empty, it returns
// the outermost one, and nil if there is none.
func (s *scope) findDefinition(name string) (match *definition) {
	for visible := s; visible != nil && (match == nil || match.isEmpty); visible = visible.outer {
		if further := visible.definitions[name]; further != nil {
			match = further
		}
	}
	return match
}

// definitionNames returns the sorted names of all templates in the scope.
func (s *scope) definitionNames() []string {
	var names []string
	for visible := s; visible != nil; visible = visible.outer {
		for name := range visible.definitions {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// parseSource parses a text and returns its definitions by name. The definition of the text itself has the name
// of the file.
func parseSource(src *source) (map[string]*definition, error) {
	if err := checkText(src); err != nil {
		return nil, err
	}
	trees, err := parseTrees(src)
	if err != nil {
		return nil, err
	}
	definitions := make(map[string]*definition, len(trees))
	for name, tree := range trees {
		if tree.Root == nil {
			continue
		}
		definitions[name] = &definition{source: src, name: name, root: tree.Root, isEmpty: parse.IsEmptyTree(tree.Root)}
	}
	if definitions[src.file] == nil {
		definitions[src.file] = &definition{source: src, name: src.file, root: &parse.ListNode{NodeType: parse.NodeList}, isEmpty: true}
	}
	return definitions, nil
}

// checkText returns an error if a text, its actions or the bytes in them exceed the limits.
func checkText(src *source) error {
	if len(src.text) > maxText {
		return src.tooLarge(fmt.Sprintf("the template is longer than %d bytes", maxText))
	}
	actions, inActions := scanActions(src.text)
	if actions > maxActions || inActions > maxActionBytes {
		return src.tooLarge(fmt.Sprintf("the template has more than %d actions, or more than %d bytes in them", maxActions, maxActionBytes))
	}
	return nil
}

// tooLarge returns the error for a source that exceeds a limit.
func (s *source) tooLarge(message string) *Error {
	finding := s.errorAt(0, message)
	finding.Budget, finding.SourceLine = boundBytes, ""
	return finding
}

// parseTrees parses a text with the parser of the standard library. It converts a panic, which would be a bug
// in the parser, to an error.
func parseTrees(src *source) (trees map[string]*parse.Tree, err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = src.errorAt(0, fmt.Sprintf("the template cannot be parsed: %v", cause))
		}
	}()
	trees = map[string]*parse.Tree{}
	tree := parse.New(src.file)
	// This package checks functions itself, with better errors and all at once.
	tree.Mode = parse.SkipFuncCheck
	if _, err := tree.Parse(src.text, "", "", trees); err != nil {
		return nil, src.parseError(err)
	}
	return trees, nil
}

// parseError converts an error of the parser, which has the form "template: NAME:LINE: MESSAGE", to an Error
// with a position.
func (s *source) parseError(err error) *Error {
	remaining, _ := strings.CutPrefix(err.Error(), "template: "+s.file+":")
	number, message, found := strings.Cut(remaining, ": ")
	line, bad := strconv.Atoi(number)
	if !found || bad != nil {
		located := s.errorAt(0, err.Error())
		located.Line, located.Column, located.SourceLine = 0, 0, ""
		return located
	}
	start := 0
	for range line - 1 {
		start += strings.IndexByte(s.text[start:], '\n') + 1
	}
	located := s.errorAt(start, message)
	// The parser reports no column: the first action of the line is the best guess.
	located.Column = 1 + max(0, strings.Index(located.SourceLine, "{{"))
	located.cause = err
	return located
}

// startPosition returns the position of a define's action, or 0 for the definition of a whole file.
func (d *definition) startPosition() int {
	if d.name == d.source.file {
		return 0
	}
	quoted := regexp.QuoteMeta(strconv.Quote(d.name)) + "|" + regexp.QuoteMeta("`"+d.name+"`")
	pattern, err := regexp.Compile(`\{\{-?\s*(?:define|block)\s+(?:` + quoted + `)`)
	if err != nil {
		return int(d.root.Position())
	}
	if span := pattern.FindStringIndex(d.source.text); span != nil {
		return span[0]
	}
	return int(d.root.Position())
}

// scanActions returns the number of actions in a text, and the number of bytes in them. It runs before the text
// is parsed, and recognizes only strings and comments.
func scanActions(text string) (actions, inside int) {
	for {
		start := strings.Index(text, "{{")
		if start < 0 {
			return actions, inside
		}
		end := actionLength(text[start:])
		actions++
		inside += end
		text = text[start+end:]
	}
}

// actionLength returns the length of the action at the start of a text, which begins with {{. The length of a comment
// ends with */, because the braces after it follow as text without another {{.
func actionLength(text string) int {
	body := strings.TrimPrefix(text[2:], "- ")
	if strings.HasPrefix(strings.TrimLeft(body, " \t\r\n"), "/*") {
		if end := strings.Index(text, "*/"); end >= 0 {
			return end + 2
		}
		return len(text)
	}
	for i := 2; i < len(text); i++ {
		switch text[i] {
		case '"', '\'', '`':
			i += quotedLength(text[i:]) - 1
		case '}':
			if strings.HasPrefix(text[i:], "}}") {
				return i + 2
			}
		}
	}
	return len(text)
}

// quotedLength returns the length of the string at the start of a text.
func quotedLength(text string) int {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == '\\' && text[0] != '`':
			i++
		case text[i] == text[0]:
			return i + 1
		case text[i] == '\n' && text[0] != '`':
			return i
		}
	}
	return len(text)
}
