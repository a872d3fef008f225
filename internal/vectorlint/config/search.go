// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostNested is the maximum nesting depth of parentheses up to which a search is checked.
const mostNested = 500

// wrongSearch returns the fault of a condition of type datadog_search, or "" for a valid search. It follows
// Vector's grammar, which uses the first alternative that matches.
func wrongSearch(source string) string {
	if strings.TrimSpace(source) == "" {
		return ""
	}
	s := &search{text: source}
	isRead := s.matchQuery()
	s.matchBlanks()
	switch {
	case s.isDeep:
		return ""
	case s.isMixed:
		return "a range starts and ends with brackets of one kind, as in [1 TO 9]"
	case !isRead || s.pos < len(source):
		return fmt.Sprintf("the search is not valid from character %d on", utf8.RuneCountInString(source[:s.furthest])+1)
	}
	return ""
}

// search is the parser of a search. If a method matches at the current position, it returns true and moves the
// position after the text that it has read. Otherwise, it returns false and does not move the position.
type search struct {
	text string
	pos  int
	// furthest is the largest offset up to which the text could be parsed. nested is the current nesting depth.
	furthest, nested int
	// isMixed reports whether a range starts and ends with different kinds of brackets. isDeep reports whether
	// parentheses are nested deeper than mostNested.
	isMixed, isDeep bool
}

// matchSequence runs parsers one after the other. If one of them does not match, matchSequence moves back to the
// start and returns false.
func (s *search) matchSequence(parsers ...func() bool) bool {
	start := s.pos
	for _, parser := range parsers {
		if !parser() {
			s.pos = start
			return false
		}
	}
	s.furthest = max(s.furthest, s.pos)
	return true
}

// matchesAhead reports whether a parser matches at the current position. It never moves the position.
func (s *search) matchesAhead(parser func() bool) bool {
	start, furthest := s.pos, s.furthest
	defer func() { s.pos, s.furthest = start, furthest }()
	return parser()
}

// matchRepeatedly runs a parser as often as it matches. It always returns true.
func (s *search) matchRepeatedly(parser func() bool) bool {
	for {
		if start := s.pos; !parser() || s.pos == start {
			return true
		}
	}
}

// optionally returns a parser that always succeeds: it reads what another parser can read, or nothing.
func optionally(parser func() bool) func() bool { return func() bool { parser(); return true } }

// matchLiteral returns a parser for one of some texts.
func (s *search) matchLiteral(choices ...string) func() bool {
	return func() bool {
		for _, choice := range choices {
			if strings.HasPrefix(s.text[s.pos:], choice) {
				s.pos += len(choice)
				return true
			}
		}
		return false
	}
}

// matchBlanks reads any number of blanks. It always succeeds.
func (s *search) matchBlanks() bool {
	for s.pos < len(s.text) && strings.IndexByte(" \r\n\t", s.text[s.pos]) >= 0 {
		s.pos++
	}
	return true
}

// matchCharacter reads one character that is not in a set.
func (s *search) matchCharacter(except string) bool {
	r, width := utf8.DecodeRuneInString(s.text[s.pos:])
	if width == 0 || strings.ContainsRune(except, r) {
		return false
	}
	s.pos += width
	return true
}

// matchEscape reads a backslash and the character after it.
func (s *search) matchEscape() bool {
	return s.matchSequence(s.matchLiteral(`\`), func() bool { return s.matchCharacter("") })
}

// matchQuery reads one or more clauses. Every clause except the first may have an AND or OR before it.
func (s *search) matchQuery() bool {
	if s.nested++; s.nested > mostNested {
		s.isDeep = true
		return false
	}
	defer func() { s.nested-- }()
	modified := func() bool {
		return s.matchSequence(optionally(s.matchLiteral("+", "NOT", "-")), s.matchBlanks, s.matchClause)
	}
	if !s.matchTerms() && !modified() {
		return false
	}
	return s.matchRepeatedly(func() bool {
		return s.matchSequence(s.matchBlanks, s.matchTerms) || s.matchSequence(s.matchBlanks, optionally(s.matchLiteral("AND", "&&", "OR", "||")), s.matchBlanks, modified)
	})
}

// matchTerms reads one or more words. A word before ":" or "*" belongs to another clause, and a word before AND or OR is an
// operand of its own.
func (s *search) matchTerms() bool {
	isWord := func() bool {
		return s.matchesAhead(func() bool {
			return s.matchTerm() && !s.matchLiteral(":", "*")() && !s.matchesAhead(func() bool {
				start := s.pos
				s.matchBlanks()
				return s.pos > start && s.matchLiteral("AND", "&&", "OR", "||")()
			})
		})
	}
	return s.matchSequence(isWord, s.matchTerm) && s.matchRepeatedly(func() bool { return s.matchSequence(s.matchBlanks, isWord, s.matchTerm) })
}

// matchClause reads a value, or a search in parentheses. FIELD: may precede both.
func (s *search) matchClause() bool {
	field := func() bool { return s.matchSequence(s.matchTerm, s.matchLiteral(":")) }
	return s.matchSequence(s.matchLiteral("*:*")) ||
		s.matchSequence(optionally(field), s.matchBlanks, s.matchValue) ||
		s.matchSequence(optionally(field), s.matchBlanks, s.matchLiteral("("), s.matchBlanks, s.matchQuery, s.matchBlanks, s.matchLiteral(")"))
}

// matchValue reads the value of a clause: *, a phrase, a word with or without wildcards, a comparison such as >5, or
// a range. Whitespace or a closing bracket must follow most of them.
func (s *search) matchValue() bool {
	isEnd := func() bool { return s.pos == len(s.text) || strings.IndexByte(" \r\n\t)]}", s.text[s.pos]) >= 0 }
	return s.matchSequence(s.matchLiteral("*"), isEnd) || s.matchPhrase() ||
		s.matchSequence(s.matchPlain(""), s.matchLiteral("*"), isEnd) ||
		s.matchSequence(s.matchLiteral(">=", "<=", ">", "<"), func() bool { return s.matchNumber() || s.matchTerm() }) ||
		s.matchRange() || s.matchSequence(s.matchTerm, isEnd) || s.matchSequence(s.matchPlain("*?"), isEnd)
}

// notInTerm are the characters that a term may contain only after a backslash. forbiddenFirst are the
// characters that a term may contain, but not as its first character.
const (
	notInTerm      = " \r\n\t\"()[]{}!:~^?*\\><"
	forbiddenFirst = "+-="
)

// matchPlain returns a parser for a term. If the argument is not empty, the term may also contain the wildcards *
// and ?.
func (s *search) matchPlain(extra string) func() bool {
	parseChar := func(except string) bool {
		return s.matchEscape() || extra != "" && s.matchLiteral("*", "?")() || !strings.HasPrefix(s.text[s.pos:], "UNICODE3000") && s.matchCharacter(except)
	}
	return func() bool {
		if !parseChar(notInTerm + forbiddenFirst) {
			return false
		}
		s.matchRepeatedly(func() bool { return parseChar(notInTerm) })
		s.furthest = max(s.furthest, s.pos)
		return true
	}
}

// matchTerm reads one word that is not an operator.
func (s *search) matchTerm() bool {
	return !s.matchesAhead(s.matchLiteral("AND", "&&", "OR", "||", "NOT", "-")) && s.matchPlain("")()
}

// matchPhrase reads a text in double quotes.
func (s *search) matchPhrase() bool {
	inside := func() bool { return s.matchRepeatedly(func() bool { return s.matchEscape() || s.matchCharacter(`"`) }) }
	return s.matchSequence(s.matchLiteral(`"`), inside, s.matchLiteral(`"`))
}

// matchNumber reads a number, such as -1.5E10.
func (s *search) matchNumber() bool {
	digits := func() bool {
		start := s.pos
		for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
			s.pos++
		}
		return s.pos > start
	}
	fraction := func() bool { return s.matchSequence(s.matchLiteral("."), digits) }
	simple := func() bool {
		return s.matchSequence(optionally(s.matchLiteral("-", `\-`)), digits, optionally(fraction))
	}
	return s.matchSequence(simple, optionally(func() bool { return s.matchSequence(s.matchLiteral("E"), simple) }))
}

// matchRange reads a range: [A TO B] or {A TO B}.
func (s *search) matchRange() bool {
	start := s.pos
	bound := func() bool {
		start := s.pos
		s.matchRepeatedly(func() bool { return s.matchCharacter(" \r\n\t]}") })
		return s.pos > start
	}
	if !s.matchSequence(s.matchLiteral("[", "{"), s.matchBlanks, bound, s.matchBlanks, s.matchLiteral("TO"), s.matchBlanks, bound, s.matchBlanks, s.matchLiteral("]", "}")) {
		return false
	}
	s.isMixed = s.isMixed || (s.text[start] == '[') != (s.text[s.pos-1] == ']')
	return true
}
