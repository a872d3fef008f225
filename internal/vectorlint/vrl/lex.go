// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package vrl

import (
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// tokenKind is the kind of a token. Punctuation and operators are symbols, which differ by their text.
type tokenKind uint8

const (
	end tokenKind = iota
	identifier
	pathField
	functionName
	reserved
	keyword
	symbol
	text
	rawText
	integer
	float
	regex
	timestamp
	// queryStart and queryEnd are before and after a path, and have no own place.
	queryStart
	queryEnd
)

// token is a piece of a VRL program. Its text is as written, with two exceptions. A quoted literal has the text
// between its quotes. A symbol at the end of a line has "\n".
type token struct {
	kind  tokenKind
	text  string
	place place
}

// place is a range of byte offsets in the VRL program.
type place struct{ from, to int }

var (
	keywords = []string{"if", "else", "true", "false", "null", "abort", "return"}
	// reservedNames are reserved for later versions of the language.
	reservedNames = []string{
		"array", "bool", "boolean", "break", "continue", "do", "emit", "float", "for", "forall", "foreach", "all", "each", "any", "try",
		"undefined", "int", "integer", "iter", "object", "regex", "string", "traverse", "timestamp", "duration", "unless", "walk", "while", "loop",
	}
)

// lexer splits a VRL program into tokens as Vector does. It reads ahead to find the start and the end of a path.
// Therefore a text that starts like a path may be read several times.
type lexer struct {
	program string
	at      int
	// queries are the ends of the paths that have started.
	queries []int
	// left is the number of characters that may still be read ahead.
	left int
	// elseFrom and elseAt are the start and the end of the blanks and comments that were last read ahead. isElse
	// reports whether the word else is behind them.
	elseFrom, elseAt int
	isElse           bool
	err              *failure
}

func newLexer(program string, effort int) *lexer {
	return &lexer{program: program, left: effort}
}

// failure is the reason why a VRL program cannot be read. tooMuch is true if the reason is a limit and not a fault of
// the program.
type failure struct {
	place   place
	message string
	help    string
	tooMuch bool
}

func (l *lexer) fail(from, to int, message, help string) token {
	if l.err == nil {
		l.err = &failure{place: place{from, to}, message: message, help: help}
	}
	return token{place: place{len(l.program), len(l.program)}}
}

// giveUp ends a VRL program that takes too much effort to check.
func (l *lexer) giveUp() {
	if l.err == nil {
		l.err = &failure{tooMuch: true}
	}
}

// next returns the next token. The kind is end behind the last token and after a failure.
func (l *lexer) next() token {
	for l.err == nil {
		start := l.at
		if l.startsQuery() {
			return token{kind: queryStart, place: place{start, start + 1}}
		}
		if last := len(l.queries) - 1; last >= 0 && start > 0 && l.queries[last] == start-1 {
			return l.endQuery()
		}
		if start >= len(l.program) {
			if len(l.queries) > 0 {
				return l.endQuery()
			}
			break
		}
		if found, isToken := l.token(); isToken {
			return found
		}
	}
	return token{place: place{len(l.program), len(l.program)}}
}

func (l *lexer) endQuery() token {
	last := len(l.queries) - 1
	at := l.queries[last]
	l.queries = l.queries[:last]
	return token{kind: queryEnd, place: place{at, at + 1}}
}

// token reads a token with an own place. It returns false for blanks and comments.
func (l *lexer) token() (found token, isToken bool) {
	start := l.at
	r, size := utf8.DecodeRuneInString(l.program[start:])
	l.at += size
	next := l.peek()
	switch {
	case r == '"':
		return l.quoted(start), true
	case (r == 'r' || r == 's' || r == 't') && next == '\'':
		return l.raw(start), true
	case r == '\n' && l.elseFollows(), r == '#' || r != '\n' && unicode.IsSpace(r):
		if r == '#' {
			l.skip(func(c rune) bool { return c != '\n' })
		}
		return token{}, false
	case strings.ContainsRune("\n;()[]{}.%:,\\", r), r == '&' && next != '&', r == '_' && !continuesName(next), r == '!' && next != 0 && (next == '!' || !isOperator(next)):
		return l.cut(symbol, start), true
	case r == '-' && next == '>':
		l.at++
		return l.cut(symbol, start), true
	case startsName(r):
		l.skip(continuesName)
		if next := l.peek(); next == '(' || next == '!' {
			return l.cut(functionName, start), true
		}
		return l.name(start), true
	case isDigit(next) && r == '-', isDigit(r):
		return l.number(start), true
	case isOperator(r):
		l.skip(isOperator)
		return l.cut(symbol, start), true
	}
	return l.fail(start, l.at, "the character "+strconv.QuoteRune(r)+" has no meaning here", ""), true
}

func (l *lexer) cut(kind tokenKind, start int) token {
	return token{kind, l.program[start:l.at], place{start, l.at}}
}

// name reads a name, except the name of a function.
func (l *lexer) name(start int) token {
	found := l.cut(identifier, start)
	switch {
	case slices.Contains(keywords, found.text):
		found.kind = keyword
	case slices.Contains(reservedNames, found.text):
		found.kind = reserved
	case strings.Contains(found.text, "@"):
		found.kind = pathField
	}
	return found
}

// number reads a number with or without a fraction, or a name that starts with digits.
func (l *lexer) number(start int) token {
	isPart := func(c rune) bool { return isDigit(c) || c == '_' }
	l.skip(isPart)
	switch next := l.peek(); {
	case continuesName(next) && l.program[start] != '-':
		l.skip(continuesName)
		return l.name(start)
	case next == '.':
		l.at++
		l.skip(isPart)
		return l.cut(float, start)
	}
	found := l.cut(integer, start)
	if _, err := strconv.ParseInt(strings.ReplaceAll(found.text, "_", ""), 10, 64); err != nil {
		return l.fail(start, l.at, "the number "+found.text+" is too large", "whole numbers have 64 bits")
	}
	return found
}

// quoted reads a text after its first quote.
func (l *lexer) quoted(start int) token {
	to, wrong := textEnd(l.program, l.at)
	if wrong != nil {
		return l.fail(wrong.place.from, wrong.place.to, wrong.message, wrong.help)
	}
	l.at = to
	return token{text, l.program[start+1 : to-1], place{start, to}}
}

// raw reads a literal such as r'…', s'…' or t'…', after its letter.
func (l *lexer) raw(start int) token {
	kind := map[byte]tokenKind{'r': regex, 's': rawText, 't': timestamp}[l.program[start]]
	to := rawEnd(l.program, l.at+1)
	if to < 0 {
		return l.fail(start, start+1, "the quote that is opened here is not closed", "")
	}
	l.at = to
	return token{kind, l.program[start+2 : to-1], place{start, to}}
}

// elseFollows reports whether only blanks and comments are before the word else.
func (l *lexer) elseFollows() bool {
	if l.at >= l.elseFrom && l.at <= l.elseAt {
		return l.isElse
	}
	l.elseFrom, l.elseAt = l.at, l.at
	for l.elseAt < len(l.program) {
		r, size := utf8.DecodeRuneInString(l.program[l.elseAt:])
		if r == '#' {
			if size = strings.IndexByte(l.program[l.elseAt:], '\n') + 1; size == 0 {
				size = len(l.program) - l.elseAt
			}
		} else if !unicode.IsSpace(r) {
			break
		}
		l.elseAt += size
	}
	rest, found := strings.CutPrefix(l.program[l.elseAt:], "else")
	l.isElse = found && !continuesName(byteAt(rest, 0))
	return l.isElse
}

// peek returns the next character, 0 at the end.
func (l *lexer) peek() rune { return byteAt(l.program, l.at) }

func (l *lexer) skip(while func(rune) bool) {
	for l.at < len(l.program) && while(rune(l.program[l.at])) {
		l.at++
	}
}

// byteAt returns a byte as an ASCII character. A byte of a longer character is not an ASCII character.
func byteAt(program string, at int) rune {
	if at < len(program) {
		return rune(program[at])
	}
	return 0
}

func startsName(c rune) bool {
	return c == '@' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func continuesName(c rune) bool { return startsName(c) || isDigit(c) }

func isDigit(c rune) bool { return c >= '0' && c <= '9' }

func isOperator(c rune) bool { return c != 0 && strings.ContainsRune("!&*+-/<=>?|", c) }
