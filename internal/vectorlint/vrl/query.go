// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// startsQuery reports whether a new path starts here, and records its end. As Vector does, it reads ahead to the
// possible end of the path.
func (l *lexer) startsQuery() bool {
	if l.at >= len(l.program) || len(l.queries) > 0 && l.queries[len(l.queries)-1] == l.at {
		return false
	}
	if first := l.peek(); !startsName(first) && !strings.ContainsRune("%.{[", first) {
		return false
	}
	scan := queryScan{lexer: l, at: l.at}
	for mayGoOn := true; mayGoOn && l.err == nil; {
		mayGoOn = scan.step()
	}
	if l.left -= scan.at - l.at + len(l.queries); l.left < 0 {
		l.giveUp()
	}
	if l.err != nil || !scan.isPath || slices.Contains(l.queries, scan.end) {
		return false
	}
	l.queries = append(l.queries, scan.end)
	return true
}

// queryScan reads ahead over a possible path.
type queryScan struct {
	lexer *lexer
	at    int
	// before is the character before, 0 at the start; end is its offset.
	before rune
	end    int
	isPath bool
	// braces, brackets and parens are the numbers of open ones.
	braces, brackets, parens int
}

// step reads a character, or all of a literal, a comment or the content of brackets. It reports whether the path may
// continue.
func (s *queryScan) step() bool {
	program := s.lexer.program
	if s.at >= len(program) {
		return false
	}
	at := s.at
	r, size := utf8.DecodeRuneInString(program[at:])
	s.at += size
	isOpen := s.braces+s.brackets+s.parens > 0
	if to, isLiteral, wrong := literalEnd(program, at); isLiteral {
		if wrong != nil {
			return false
		}
		s.at, s.end, s.before = to, to-1, rune(program[to-1])
		return true
	}
	switch {
	case r == '{':
		s.braces++
	case r == '(':
		s.parens++
	case r == '[':
		s.isPath = s.isPath || !isOpen && (strings.ContainsRune("]})", s.before) || s.afterName())
		s.brackets++
	case r == '}':
		if s.braces--; s.braces < 0 {
			return false
		}
	case r == ')':
		if s.parens--; s.parens < 0 {
			return false
		}
	case r == ']':
		if s.brackets--; s.brackets < 0 {
			return false
		}
	case isOpen:
		s.skipWithin()
	case r == '.', r == '%':
		if !s.dot(r, at) {
			return false
		}
	case r == '#':
		s.comment()
		return true
	case r != '!' && !continuesName(r):
		return false
	}
	s.before, s.end = r, at
	return true
}

func (s *queryScan) afterName() bool {
	return continuesName(s.before)
}

// dot checks a dot or a percent sign, and reports whether the path may continue.
func (s *queryScan) dot(r rune, at int) bool {
	switch {
	case s.before == 0, r == '.' && strings.ContainsRune(`)}]"`, s.before):
		s.isPath = true
	case r == '.' && s.afterName():
		// A dot in a number does not start a path.
		word := s.lexer.program[:at]
		from := wordStart(word)
		s.isPath = s.isPath || strings.ContainsFunc(word[from:], func(r rune) bool { return (r < '0' || r > '9') && r != '_' })
		s.lexer.left -= at - from
	default:
		return false
	}
	return true
}

// wordStart returns the offset behind the last blank.
func wordStart(text string) int {
	at := strings.LastIndexFunc(text, unicode.IsSpace)
	if at < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(text[at:])
	return at + size
}

// comment skips a comment and the end of its line.
func (s *queryScan) comment() {
	program := s.lexer.program
	for s.at < len(program) {
		r, size := utf8.DecodeRuneInString(program[s.at:])
		at := s.at
		s.at += size
		if r == '\n' {
			return
		}
		s.end = at
	}
}

// skipWithin moves to the symbol that closes the innermost kind of bracket.
func (s *queryScan) skipWithin() {
	opening, closing := byte('('), byte(')')
	switch {
	case s.braces > 0:
		opening, closing = '{', '}'
	case s.brackets > 0:
		opening, closing = '[', ']'
	}
	program, depth := s.lexer.program, 0
	for s.at < len(program) {
		if !s.skipLiteral() {
			return
		}
		r, size := utf8.DecodeRuneInString(program[s.at:])
		if depth == 0 && r == rune(closing) {
			return
		}
		s.at += size
		switch r {
		case rune(opening):
			depth++
		case rune(closing):
			depth--
		}
	}
}

// skipLiteral skips a literal or a comment. The VRL program must continue behind it.
func (s *queryScan) skipLiteral() bool {
	program := s.lexer.program
	to, isLiteral, wrong := literalEnd(program, s.at)
	if program[s.at] == '#' {
		isLiteral, to = true, len(program)
		if line := strings.IndexByte(program[s.at:], '\n'); line >= 0 {
			to = s.at + line + 1
		}
	}
	switch {
	case !isLiteral:
		return true
	case wrong != nil:
		s.lexer.fail(wrong.place.from, wrong.place.to, wrong.message, wrong.help)
		return false
	case to >= len(program):
		s.lexer.fail(s.at, to, "the program ends before the brackets that are open here are closed", "")
		return false
	}
	s.at = to
	return true
}

// literalEnd returns the offset behind the quoted literal that starts at an offset.
func literalEnd(program string, at int) (to int, isLiteral bool, wrong *failure) {
	switch c := program[at]; {
	case c == '"':
		to, wrong = textEnd(program, at+1)
		return to, true, wrong
	case (c == 'r' || c == 's' || c == 't') && byteAt(program, at+1) == '\'':
		if to = rawEnd(program, at+2); to < 0 {
			return 0, true, &failure{place: place{at, at + 1}, message: "the quote that is opened here is not closed"}
		}
		return to, true, nil
	}
	return 0, false, nil
}
