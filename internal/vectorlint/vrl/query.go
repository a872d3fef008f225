// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// startsQuery reports whether a path starts at the current position, and records its end. Like Vector, it reads
// ahead to the possible end of the path.
func (l *lexer) startsQuery() bool {
	if l.pos >= len(l.program) || len(l.queries) > 0 && l.queries[len(l.queries)-1] == l.pos {
		return false
	}
	if r := l.peek(); !startsName(r) && !strings.ContainsRune("%.{[", r) {
		return false
	}
	scan := queryScan{lexer: l, pos: l.pos}
	for hasMore := true; hasMore && l.err == nil; {
		hasMore = scan.scanRune()
	}
	if l.remaining -= scan.pos - l.pos + len(l.queries); l.remaining < 0 {
		l.failOverBudget()
	}
	if l.err != nil || !scan.isPath || slices.Contains(l.queries, scan.end) {
		return false
	}
	l.queries = append(l.queries, scan.end)
	return true
}

// queryScan reads ahead over text that may be a path.
type queryScan struct {
	lexer *lexer
	pos   int
	// previous is the last character that was read, or 0 at the start. end is the offset of that character.
	previous rune
	end      int
	isPath   bool
	// braces, brackets and parens are the numbers of open brackets of each kind.
	braces, brackets, parens int
}

// scanRune reads one character, or a whole literal, comment or content of brackets. It returns false if the path
// cannot continue.
func (s *queryScan) scanRune() bool {
	program := s.lexer.program
	if s.pos >= len(program) {
		return false
	}
	start := s.pos
	r, size := utf8.DecodeRuneInString(program[start:])
	s.pos += size
	isOpen := s.braces+s.brackets+s.parens > 0
	if endPos, isLiteral, wrong := literalEnd(program, start); isLiteral {
		if wrong != nil {
			return false
		}
		s.pos, s.end, s.previous = endPos, endPos-1, rune(program[endPos-1])
		return true
	}
	switch {
	case r == '{':
		s.braces++
	case r == '(':
		s.parens++
	case r == '[':
		s.isPath = s.isPath || !isOpen && (strings.ContainsRune("]})", s.previous) || s.scanAfterName())
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
		s.skipBrackets()
	case r == '.', r == '%':
		if !s.scanDot(r, start) {
			return false
		}
	case r == '#':
		s.skipComment()
		return true
	case r != '!' && !continuesName(r):
		return false
	}
	s.previous, s.end = r, start
	return true
}

// scanAfterName reports whether the previous character belongs to a name.
func (s *queryScan) scanAfterName() bool {
	return continuesName(s.previous)
}

// scanDot decides whether a dot or a percent sign makes the text a path. It returns false if the path cannot
// continue.
func (s *queryScan) scanDot(r rune, pos int) bool {
	switch {
	case s.previous == 0, r == '.' && strings.ContainsRune(`)}]"`, s.previous):
		s.isPath = true
	case r == '.' && s.scanAfterName():
		// A dot in a number does not start a path.
		word := s.lexer.program[:pos]
		start := wordStart(word)
		s.isPath = s.isPath || strings.ContainsFunc(word[start:], func(r rune) bool { return (r < '0' || r > '9') && r != '_' })
		s.lexer.remaining -= pos - start
	default:
		return false
	}
	return true
}

// wordStart returns the offset after the last whitespace, or 0 for none.
func wordStart(text string) int {
	i := strings.LastIndexFunc(text, unicode.IsSpace)
	if i < 0 {
		return 0
	}
	_, size := utf8.DecodeRuneInString(text[i:])
	return i + size
}

// skipComment skips a comment up to and including the line end.
func (s *queryScan) skipComment() {
	program := s.lexer.program
	for s.pos < len(program) {
		r, size := utf8.DecodeRuneInString(program[s.pos:])
		start := s.pos
		s.pos += size
		if r == '\n' {
			return
		}
		s.end = start
	}
}

// skipBrackets moves to the symbol that closes the current bracket. If brackets of several kinds are open, braces
// come first, then square brackets, then parentheses.
func (s *queryScan) skipBrackets() {
	opening, closing := byte('('), byte(')')
	switch {
	case s.braces > 0:
		opening, closing = '{', '}'
	case s.brackets > 0:
		opening, closing = '[', ']'
	}
	program, depth := s.lexer.program, 0
	for s.pos < len(program) {
		if !s.skipLiteral() {
			return
		}
		r, size := utf8.DecodeRuneInString(program[s.pos:])
		if depth == 0 && r == rune(closing) {
			return
		}
		s.pos += size
		switch r {
		case rune(opening):
			depth++
		case rune(closing):
			depth--
		}
	}
}

// skipLiteral skips the literal or the comment at the current position, if one starts there. skipLiteral
// returns false if the program ends inside the literal or comment.
func (s *queryScan) skipLiteral() bool {
	program := s.lexer.program
	endPos, isLiteral, wrong := literalEnd(program, s.pos)
	if program[s.pos] == '#' {
		isLiteral, endPos = true, len(program)
		if line := strings.IndexByte(program[s.pos:], '\n'); line >= 0 {
			endPos = s.pos + line + 1
		}
	}
	switch {
	case !isLiteral:
		return true
	case wrong != nil:
		s.lexer.fail(wrong.span.start, wrong.span.end, wrong.message, wrong.help)
		return false
	case endPos >= len(program):
		s.lexer.fail(s.pos, endPos, "unclosed bracket", "")
		return false
	}
	s.pos = endPos
	return true
}

// literalEnd returns the offset after the quoted literal that starts at an offset. It returns false if no
// literal starts there.
func literalEnd(program string, start int) (endPos int, isLiteral bool, wrong *failure) {
	switch c := program[start]; {
	case c == '"':
		endPos, wrong = textEnd(program, start+1)
		return endPos, true, wrong
	case (c == 'r' || c == 's' || c == 't') && byteAt(program, start+1) == '\'':
		if endPos = rawEnd(program, start+2); endPos < 0 {
			return 0, true, &failure{span: span{start, start + 1}, message: "unclosed quote"}
		}
		return endPos, true, nil
	}
	return 0, false, nil
}
