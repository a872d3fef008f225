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
	isRead := s.query()
	s.blanks()
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

// sequence matches the results of some parsers one after the other.
func (s *search) sequence(parsers ...func() bool) bool {
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

// repeat runs a parser as often as it matches. It always returns true.
func (s *search) repeat(parser func() bool) bool {
	for {
		if start := s.pos; !parser() || s.pos == start {
			return true
		}
	}
}

func maybe(parser func() bool) func() bool { return func() bool { parser(); return true } }

// literal returns a parser for one of some texts.
func (s *search) literal(choices ...string) func() bool {
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

func (s *search) blanks() bool {
	for s.pos < len(s.text) && strings.IndexByte(" \r\n\t", s.text[s.pos]) >= 0 {
		s.pos++
	}
	return true
}

// character reads one character that is not in a set.
func (s *search) character(except string) bool {
	r, width := utf8.DecodeRuneInString(s.text[s.pos:])
	if width == 0 || strings.ContainsRune(except, r) {
		return false
	}
	s.pos += width
	return true
}

func (s *search) escapeSequence() bool {
	return s.sequence(s.literal(`\`), func() bool { return s.character("") })
}

// query reads one or more clauses. Every clause except the first may have an AND or OR before it.
func (s *search) query() bool {
	if s.nested++; s.nested > mostNested {
		s.isDeep = true
		return false
	}
	defer func() { s.nested-- }()
	modified := func() bool {
		return s.sequence(maybe(s.literal("+", "NOT", "-")), s.blanks, s.clause)
	}
	if !s.terms() && !modified() {
		return false
	}
	return s.repeat(func() bool {
		return s.sequence(s.blanks, s.terms) || s.sequence(s.blanks, maybe(s.literal("AND", "&&", "OR", "||")), s.blanks, modified)
	})
}

// terms reads one or more words that are not part of a clause with a field.
func (s *search) terms() bool {
	isWord := func() bool {
		return s.matchesAhead(func() bool {
			return s.term() && !s.literal(":", "*")() && !s.matchesAhead(func() bool {
				start := s.pos
				s.blanks()
				return s.pos > start && s.literal("AND", "&&", "OR", "||")()
			})
		})
	}
	return s.sequence(isWord, s.term) && s.repeat(func() bool { return s.sequence(s.blanks, isWord, s.term) })
}

func (s *search) clause() bool {
	field := func() bool { return s.sequence(s.term, s.literal(":")) }
	return s.sequence(s.literal("*:*")) ||
		s.sequence(maybe(field), s.blanks, s.value) ||
		s.sequence(maybe(field), s.blanks, s.literal("("), s.blanks, s.query, s.blanks, s.literal(")"))
}

func (s *search) value() bool {
	isEnd := func() bool { return s.pos == len(s.text) || strings.IndexByte(" \r\n\t)]}", s.text[s.pos]) >= 0 }
	return s.sequence(s.literal("*"), isEnd) || s.phrase() ||
		s.sequence(s.plain(""), s.literal("*"), isEnd) ||
		s.sequence(s.literal(">=", "<=", ">", "<"), func() bool { return s.number() || s.term() }) ||
		s.span() || s.sequence(s.term, isEnd) || s.sequence(s.plain("*?"), isEnd)
}

// notInTerm are the characters that a term may contain only after a backslash. forbiddenFirst are the
// characters that a term may contain, but not as its first character.
const (
	notInTerm      = " \r\n\t\"()[]{}!:~^?*\\><"
	forbiddenFirst = "+-="
)

// plain returns a parser for a term. If the argument is not empty, the term may also contain the wildcards *
// and ?.
func (s *search) plain(extra string) func() bool {
	parseChar := func(except string) bool {
		return s.escapeSequence() || extra != "" && s.literal("*", "?")() || !strings.HasPrefix(s.text[s.pos:], "UNICODE3000") && s.character(except)
	}
	return func() bool {
		if !parseChar(notInTerm + forbiddenFirst) {
			return false
		}
		s.repeat(func() bool { return parseChar(notInTerm) })
		s.furthest = max(s.furthest, s.pos)
		return true
	}
}

func (s *search) term() bool {
	return !s.matchesAhead(s.literal("AND", "&&", "OR", "||", "NOT", "-")) && s.plain("")()
}

func (s *search) phrase() bool {
	inside := func() bool { return s.repeat(func() bool { return s.escapeSequence() || s.character(`"`) }) }
	return s.sequence(s.literal(`"`), inside, s.literal(`"`))
}

// number reads a number, such as -1.5E10.
func (s *search) number() bool {
	digits := func() bool {
		start := s.pos
		for s.pos < len(s.text) && s.text[s.pos] >= '0' && s.text[s.pos] <= '9' {
			s.pos++
		}
		return s.pos > start
	}
	fraction := func() bool { return s.sequence(s.literal("."), digits) }
	simple := func() bool { return s.sequence(maybe(s.literal("-", `\-`)), digits, maybe(fraction)) }
	return s.sequence(simple, maybe(func() bool { return s.sequence(s.literal("E"), simple) }))
}

// span reads a range: [A TO B] or {A TO B}.
func (s *search) span() bool {
	start := s.pos
	bound := func() bool {
		start := s.pos
		s.repeat(func() bool { return s.character(" \r\n\t]}") })
		return s.pos > start
	}
	if !s.sequence(s.literal("[", "{"), s.blanks, bound, s.blanks, s.literal("TO"), s.blanks, bound, s.blanks, s.literal("]", "}")) {
		return false
	}
	s.isMixed = s.isMixed || (s.text[start] == '[') != (s.text[s.pos-1] == ']')
	return true
}
