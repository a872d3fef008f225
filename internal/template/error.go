// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package template

import (
	"errors"
	"fmt"
	"strings"
	"text/template/parse"
)

// Error is one finding, in Compile or in Execute.
type Error struct {
	// Template is the full name of the file, and Define the template inside of
	// it that was at work, if that has a name of its own.
	Template string
	Define   string
	// Line and Column count from 1, the column in bytes; 0 is unknown.
	Line   int
	Column int
	// At is the expression, shortened; SourceLine the whole line it stands in.
	At         string
	SourceLine string
	// Message says what is wrong. Of fail and required, it is the author's own.
	Message string
	// Hint says what to do, where that is known.
	Hint string
	// Budget names the bound that was hit: steps, depth, nodes, bytes, memory or
	// time. It is empty for all other errors.
	Budget string
	// Values are the paths below .Values that the expression names, such as
	// sidecar, resources, where the templates' text tells them.
	Values [][]string
	// Trail holds the places that led here, as file:line:column, the nearest
	// first: calls of include, template and tpl.
	Trail []string

	cause error
	// inText says that Message tells a place in a text given to tpl.
	inText bool
}

// Error reads like Helm's: place, template, expression, message. What an author
// says with fail or required comes first: it is meant for whoever reads it.
func (e *Error) Error() string {
	var text strings.Builder
	if strings.HasPrefix(e.At, "fail ") || strings.HasPrefix(e.At, "required ") {
		return fmt.Sprintf("%s (%s)", e.Message, strings.Join(append([]string{e.place()}, e.Trail...), ", from "))
	}
	text.WriteString(e.place())
	if e.At != "" {
		name := e.Define
		if name == "" {
			name = e.Template
		}
		fmt.Fprintf(&text, ": executing %q at <%s>", name, e.At)
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

// Unwrap returns the error below, if there is one: for a deadline, that of the
// context.
func (e *Error) Unwrap() error { return e.cause }

func (e *Error) place() string {
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

func (e *Error) calledAt(place string) {
	switch {
	case len(e.Trail) < maxTrail:
		e.Trail = append(e.Trail, place)
	case len(e.Trail) == maxTrail:
		e.Trail = append(e.Trail, "…")
	}
}

// source is the text that a template was parsed from.
type source struct {
	file string
	text string
}

// errorAt makes an Error at a byte position of the source.
func (s *source) errorAt(pos int, message string) *Error {
	pos = min(max(pos, 0), len(s.text))
	start := strings.LastIndexByte(s.text[:pos], '\n') + 1
	line, _, _ := strings.Cut(s.text[start:], "\n")
	return &Error{
		Template: s.file, Line: 1 + strings.Count(s.text[:pos], "\n"), Column: 1 + pos - start,
		SourceLine: strings.TrimSuffix(line, "\r"), Message: message,
	}
}

// nodeStart is where a node begins. The parser gives a chain of fields the position
// of its second field.
func (s *source) nodeStart(node parse.Node) int {
	pos := int(node.Position())
	first := ""
	switch node := node.(type) {
	case *parse.FieldNode:
		if len(node.Ident) > 1 {
			first = "." + node.Ident[0]
		}
	case *parse.VariableNode:
		if len(node.Ident) > 1 {
			first = node.Ident[0]
		}
	}
	if first != "" && pos >= len(first) && pos <= len(s.text) && s.text[pos-len(first):pos] == first {
		return pos - len(first)
	}
	return pos
}

// hinted carries a hint through layers that return plain errors.
type hinted struct {
	error
	hint string
}

func (h *hinted) Unwrap() error { return h.error }

// withHint adds what to do to an error.
func withHint(err error, hint string) error {
	return &hinted{error: err, hint: hint}
}

// explain makes an Error of err at a node, unless it is one already: the place
// where something went wrong is the innermost. Without a node, it concerns the
// template as a whole.
func (s *source) explain(define string, node parse.Node, err error) error {
	var known *Error
	if errors.As(err, &known) {
		return err
	}
	located := s.errorAt(0, err.Error())
	if node != nil {
		located = s.errorAt(s.nodeStart(node), err.Error())
		located.At = shorten(node.String())
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

// shorten cuts an expression to what a line can hold.
func shorten(text string) string {
	const most = 60
	// More than this of the text cannot show, however many bytes its runes take.
	text = strings.Join(strings.Fields(text[:min(len(text), 8*most)]), " ")
	if runes := []rune(text); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return text
}
