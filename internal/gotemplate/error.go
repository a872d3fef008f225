// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package gotemplate

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"
)

// Error is one finding, in Compile or in Execute.
type Error struct {
	// Template is the full name of the file. Define is the named template inside it that was executing, if any.
	Template string
	Define   string
	// Line and Column count from 1, the column in bytes; 0 is unknown.
	Line   int
	Column int
	// Expression is the expression, shortened. SourceLine is the whole line that contains it.
	Expression string
	SourceLine string
	// Message explains the error. For fail and required, it is the author's message.
	Message string
	// Hint explains how to fix the error, if known.
	Hint string
	// Budget is the bound that was hit: steps, depth, nodes, bytes, memory or time. It is empty for
	// all other errors.
	Budget string
	// Values are the paths below .Values that the expression refers to, such as sidecar, resources,
	// if they can be read from the template's text.
	Values [][]string
	// Trail is the call stack of include, template and tpl, as file:line:column, innermost first.
	Trail []string

	cause error
	// inText is true if Message names a position in a text of tpl.
	inText bool
}

// Error returns place, template, expression and message, as Helm does. The message of fail or required comes first,
// because its author wrote it for the reader.
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

// Unwrap returns the wrapped error, if any: for a deadline, the error of the context.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) position() string {
	switch {
	case e.Line == 0:
		return e.Template
	case e.Column == 0:
		return fmt.Sprintf("%s:%d", e.Template, e.Line)
	}
	return fmt.Sprintf("%s:%d:%d", e.Template, e.Line, e.Column)
}

// maxTrail keeps the error of a deep recursion readable.
const maxTrail = 8

func (e *Error) calledAt(position string) {
	switch {
	case len(e.Trail) < maxTrail:
		e.Trail = append(e.Trail, position)
	case len(e.Trail) == maxTrail:
		e.Trail = append(e.Trail, "…")
	}
}

// source is the text that a template was parsed from.
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

// nodeStart returns the start of a node. The parser gives a chain of fields the position of its second field.
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

// hinted carries a hint through functions that return plain errors.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// withHint adds a hint to an error.
func withHint(err error, hint string) error {
	return &hinted{error: err, hint: hint}
}

// explain turns an error into an Error at a node. An error that already is an Error is unchanged, because the
// innermost place is the right one. A nil node means the template as a whole.
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

// shorten cuts an expression to fit on a line.
func shorten(text string) string {
	const maxLength = 60
	// The message never shows more of the text than this, independent of the size of its runes.
	text = strings.Join(strings.Fields(text[:min(len(text), 8*maxLength)]), " ")
	if runes := []rune(text); len(runes) > maxLength {
		return string(runes[:maxLength]) + "…"
	}
	return text
}
