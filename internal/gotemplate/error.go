// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"
)

// Error is one error of Compile or Execute.
type Error struct {
	// Template is the full name of the file. Define is the name of the define in the file that was executing,
	// or "".
	Template string
	Define   string
	// Line and Column start at 1, and Column counts bytes. 0 means unknown.
	Line   int
	Column int
	// Expression is the failing expression, shortened. SourceLine is the whole line that contains it.
	Expression string
	SourceLine string
	// Message explains the error. For fail and required, it is the message of the template's author.
	Message string
	// Hint explains how to fix the error, or is "".
	Hint string
	// Budget is the name of the bound that was exceeded: steps, depth, nodes, bytes, memory or time. It is ""
	// for all other errors.
	Budget string
	// Values are the paths below .Values that the expression refers to, such as sidecar, resources. They
	// contain only paths that the text of the template shows.
	Values [][]string
	// Trail is the call stack of include, template and tpl as file:line:column. The innermost call is first.
	Trail []string

	cause error
	// inText reports whether Message already contains a position in a text of tpl.
	inText bool
}

// Error returns the position, template, expression and message in Helm's format. If the error is from fail or
// required, the message comes first, because the template's author wrote it for the reader.
func (e *Error) Error() string {
	var text strings.Builder
	if strings.HasPrefix(e.Expression, "fail ") || strings.HasPrefix(e.Expression, "required ") {
		return fmt.Sprintf("%s (%s)", e.Message, strings.Join(append([]string{e.position()}, e.Trail...), ", from "))
	}
	text.WriteString(e.position())
	if e.Expression != "" {
		name := e.Define
		if name == "" {
			name = e.Template
		}
		fmt.Fprintf(&text, ": executing %q at <%s>", name, e.Expression)
	}
	text.WriteString(": " + e.Message)
	if e.Hint != "" {
		text.WriteString("; " + e.Hint)
	}
	if len(e.Trail) > 0 {
		text.WriteString(" (called at " + strings.Join(e.Trail, ", from ") + ")")
	}
	return text.String()
}

// Unwrap returns the wrapped error, or nil for none. For a deadline, it is the error of the context.
func (e *Error) Unwrap() error { return e.cause }

// position returns the position as FILE:LINE:COLUMN, without unknown parts.
func (e *Error) position() string {
	switch {
	case e.Line == 0:
		return e.Template
	case e.Column == 0:
		return fmt.Sprintf("%s:%d", e.Template, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.Template, e.Line, e.Column)
}

// maxTrail is the maximum length of Trail, so that errors of a deep recursion stay readable.
const maxTrail = 8

// addCaller adds the position of a call to the trail. After maxTrail positions, it adds only an ellipsis.
func (e *Error) addCaller(position string) {
	switch {
	case len(e.Trail) < maxTrail:
		e.Trail = append(e.Trail, position)
	case len(e.Trail) == maxTrail:
		e.Trail = append(e.Trail, "…")
	}
}

// source is the text from which a template was parsed.
type source struct {
	file string
	text string
}

// errorAt returns an Error for a byte position of the source.
func (s *source) errorAt(pos int, message string) *Error {
	pos = min(max(pos, 0), len(s.text))
	start := strings.LastIndexByte(s.text[:pos], '\n') + 1
	line, _, _ := strings.Cut(s.text[start:], "\n")
	return &Error{
		Template: s.file, Line: 1 + strings.Count(s.text[:pos], "\n"), Column: 1 + pos - start,
		SourceLine: strings.TrimSuffix(line, "\r"), Message: message,
	}
}

// nodeStart returns the position of a node's first byte. For a chain of fields, the parser returns the position
// of the second field, which nodeStart corrects.
func (s *source) nodeStart(node parse.Node) int {
	pos := int(node.Position())
	prefix := ""
	switch node := node.(type) {
	case *parse.FieldNode:
		if len(node.Ident) > 1 {
			prefix = "." + node.Ident[0]
		}
	case *parse.VariableNode:
		if len(node.Ident) > 1 {
			prefix = node.Ident[0]
		}
	}
	if prefix != "" && pos >= len(prefix) && pos <= len(s.text) && s.text[pos-len(prefix):pos] == prefix {
		return pos - len(prefix)
	}
	return pos
}

// hinted is an error with a hint, for functions that return a plain error.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// withHint returns an error with a hint.
func withHint(err error, hint string) error {
	return &hinted{error: err, hint: hint}
}

// explain converts an error to an Error at the position of a node. A nil node stands for the whole template. If
// the error already is an Error, it is returned unchanged, because its position is more precise.
func (s *source) explain(define string, node parse.Node, err error) error {
	var templateErr *Error
	if errors.As(err, &templateErr) {
		return err
	}
	located := s.errorAt(0, err.Error())
	if node != nil {
		located = s.errorAt(s.nodeStart(node), err.Error())
		located.Expression = shorten(node.String())
	}
	if define != s.file {
		located.Define = define
	}
	located.cause = err
	var bound *boundError
	if errors.As(err, &bound) {
		located.Budget, located.cause = bound.bound, bound.cause
	}
	var hint *hinted
	if errors.As(err, &hint) {
		located.Hint = hint.hint
	}
	return located
}

// shorten cuts an expression to a length that fits on a line.
func shorten(text string) string {
	const maxLength = 60
	// The message never shows more of the text than this, independent of the size of its runes.
	text = strings.Join(strings.Fields(text[:min(len(text), 8*maxLength)]), " ")
	if runes := []rune(text); len(runes) > maxLength {
		return string(runes[:maxLength]) + "…"
	}
	return text
}
