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

// tokenKind is the kind of a token. All punctuation and operators have the kind symbol and differ in their
// text.
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
	// queryStart and queryEnd mark the start and the end of a path. They do not contain characters of the
	// program.
	queryStart
	queryEnd
)

// token is a token of a program. Its text is equal to the text in the program, with two exceptions: a quoted
// literal has the text between its quotes, and a line end has "\n".
type token struct {
	kind tokenKind
	text string
	span span
}

// span is a range of byte offsets in a program.
type span struct{ start, end int }

var (
	keywords = []string{"if", "else", "true", "false", "null", "abort", "return"}
	// reservedNames are words that VRL reserves for later versions.
	reservedNames = []string{
		"array", "bool", "boolean", "break", "continue", "do", "emit", "float", "for", "forall", "foreach", "all", "each", "any", "try",
		"undefined", "int", "integer", "iter", "object", "regex", "string", "traverse", "timestamp", "duration", "unless", "walk", "while", "loop",
	}
)

// lexer splits a program into tokens as Vector does. It reads ahead to find the start and the end of a path.
// Text that starts like a path may therefore be read several times.
type lexer struct {
	program string
	pos     int
	// queries are the end offsets of the paths that have started and not ended.
	queries []int
	// remaining is the number of characters that may still be read ahead.
	remaining int
	// elseStart and elseEnd are the start and the end of the whitespace and comments that isElseNext has last
	// read. isElse reports whether the word else follows them.
	elseStart, elseEnd int
	isElse             bool
	err                *failure
}

// newLexer returns a lexer at the start of a program. effort is the maximum number of characters that may be read
// ahead.
func newLexer(program string, effort int) *lexer {
	return &lexer{program: program, remaining: effort}
}

// failure is the reason why a program cannot be parsed. If isOverBudget is true, the reason is a limit and not
// a fault of the program.
type failure struct {
	span         span
	message      string
	help         string
	isOverBudget bool
}

// fail records the first failure. After a failure, the lexer returns only tokens of the kind end, as this function
// does.
func (l *lexer) fail(start, endPos int, message, help string) token {
	if l.err == nil {
		l.err = &failure{span: span{start, endPos}, message: message, help: help}
	}
	return token{span: span{len(l.program), len(l.program)}}
}

// failOverBudget ends the parsing of a program that exceeds a limit.
func (l *lexer) failOverBudget() {
	if l.err == nil {
		l.err = &failure{isOverBudget: true}
	}
}

// nextToken returns the next token. After the last token and after a failure, it returns tokens of the kind
// end.
func (l *lexer) nextToken() token {
	for l.err == nil {
		start := l.pos
		if l.startsQuery() {
			return token{kind: queryStart, span: span{start, start + 1}}
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
		if tok, isToken := l.readToken(); isToken {
			return tok
		}
	}
	return token{span: span{len(l.program), len(l.program)}}
}

// endQuery ends the innermost path, and returns its queryEnd token.
func (l *lexer) endQuery() token {
	last := len(l.queries) - 1
	pos := l.queries[last]
	l.queries = l.queries[:last]
	return token{kind: queryEnd, span: span{pos, pos + 1}}
}

// readToken reads one token that contains characters of the program. It returns false for whitespace and comments.
func (l *lexer) readToken() (tok token, isToken bool) {
	start := l.pos
	r, size := utf8.DecodeRuneInString(l.program[start:])
	l.pos += size
	nextRune := l.peek()
	switch {
	case r == '"':
		return l.readQuoted(start), true
	case (r == 'r' || r == 's' || r == 't') && nextRune == '\'':
		return l.readRaw(start), true
	case r == '\n' && l.isElseNext(), r == '#' || r != '\n' && unicode.IsSpace(r):
		if r == '#' {
			l.skipWhile(func(c rune) bool { return c != '\n' })
		}
		return token{}, false
	case strings.ContainsRune("\n;()[]{}.%:,\\", r), r == '&' && nextRune != '&', r == '_' && !continuesName(nextRune), r == '!' && nextRune != 0 && (nextRune == '!' || !isOperator(nextRune)):
		return l.makeToken(symbol, start), true
	case r == '-' && nextRune == '>':
		l.pos++
		return l.makeToken(symbol, start), true
	case startsName(r):
		l.skipWhile(continuesName)
		if nextRune := l.peek(); nextRune == '(' || nextRune == '!' {
			return l.makeToken(functionName, start), true
		}
		return l.readName(start), true
	case isDigit(nextRune) && r == '-', isDigit(r):
		return l.readNumber(start), true
	case isOperator(r):
		l.skipWhile(isOperator)
		return l.makeToken(symbol, start), true
	}
	return l.fail(start, l.pos, "the character "+strconv.QuoteRune(r)+" is not valid here", ""), true
}

// makeToken returns the token from a start to the current position.
func (l *lexer) makeToken(kind tokenKind, start int) token {
	return token{kind, l.program[start:l.pos], span{start, l.pos}}
}

// readName reads a keyword, a reserved name, or the name of a variable or field.
func (l *lexer) readName(start int) token {
	tok := l.makeToken(identifier, start)
	switch {
	case slices.Contains(keywords, tok.text):
		tok.kind = keyword
	case slices.Contains(reservedNames, tok.text):
		tok.kind = reserved
	case strings.Contains(tok.text, "@"):
		tok.kind = pathField
	}
	return tok
}

// readNumber reads an integer, a float, or a name that starts with digits.
func (l *lexer) readNumber(start int) token {
	isPart := func(c rune) bool { return isDigit(c) || c == '_' }
	l.skipWhile(isPart)
	switch nextRune := l.peek(); {
	case continuesName(nextRune) && l.program[start] != '-':
		l.skipWhile(continuesName)
		return l.readName(start)
	case nextRune == '.':
		l.pos++
		l.skipWhile(isPart)
		return l.makeToken(float, start)
	}
	tok := l.makeToken(integer, start)
	if _, err := strconv.ParseInt(strings.ReplaceAll(tok.text, "_", ""), 10, 64); err != nil {
		return l.fail(start, l.pos, "the number "+tok.text+" is too large", "integers have 64 bits")
	}
	return tok
}

// readQuoted reads a text in double quotes. The lexer is after the opening quote.
func (l *lexer) readQuoted(start int) token {
	endPos, wrong := textEnd(l.program, l.pos)
	if wrong != nil {
		return l.fail(wrong.span.start, wrong.span.end, wrong.message, wrong.help)
	}
	l.pos = endPos
	return token{text, l.program[start+1 : endPos-1], span{start, endPos}}
}

// readRaw reads a literal such as r'…', s'…' or t'…'. The lexer is after the letter.
func (l *lexer) readRaw(start int) token {
	kind := map[byte]tokenKind{'r': regex, 's': rawText, 't': timestamp}[l.program[start]]
	endPos := rawEnd(l.program, l.pos+1)
	if endPos < 0 {
		return l.fail(start, start+1, "unclosed quote", "")
	}
	l.pos = endPos
	return token{kind, l.program[start+2 : endPos-1], span{start, endPos}}
}

// isElseNext reports whether the next token is the word else. It skips whitespace, line ends and comments.
func (l *lexer) isElseNext() bool {
	if l.pos >= l.elseStart && l.pos <= l.elseEnd {
		return l.isElse
	}
	l.elseStart, l.elseEnd = l.pos, l.pos
	for l.elseEnd < len(l.program) {
		r, size := utf8.DecodeRuneInString(l.program[l.elseEnd:])
		if r == '#' {
			if size = strings.IndexByte(l.program[l.elseEnd:], '\n') + 1; size == 0 {
				size = len(l.program) - l.elseEnd
			}
		} else if !unicode.IsSpace(r) {
			break
		}
		l.elseEnd += size
	}
	remaining, found := strings.CutPrefix(l.program[l.elseEnd:], "else")
	l.isElse = found && !continuesName(byteAt(remaining, 0))
	return l.isElse
}

// peek returns the next character, or 0 at the end of the program.
func (l *lexer) peek() rune { return byteAt(l.program, l.pos) }

// skipWhile skips characters while matches returns true for them.
func (l *lexer) skipWhile(matches func(rune) bool) {
	for l.pos < len(l.program) && matches(rune(l.program[l.pos])) {
		l.pos++
	}
}

// byteAt returns the byte at an offset as a character, or 0 after the end of the program. The result is correct
// only for ASCII characters. No byte of another character is an ASCII character.
func byteAt(program string, i int) rune {
	if i < len(program) {
		return rune(program[i])
	}
	return 0
}

// startsName reports whether a name can start with a character.
func startsName(c rune) bool {
	return c == '@' || c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// continuesName reports whether a name can contain a character after its start.
func continuesName(c rune) bool { return startsName(c) || isDigit(c) }

// isDigit reports whether a character is a decimal digit.
func isDigit(c rune) bool { return c >= '0' && c <= '9' }

// isOperator reports whether a character is part of an operator.
func isOperator(c rune) bool { return c != 0 && strings.ContainsRune("!&*+-/<=>?|", c) }
