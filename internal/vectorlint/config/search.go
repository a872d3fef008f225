// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// mostNested is the maximum nesting depth of parentheses in a search that is checked.
const mostNested = 500

// wrongSearch checks a condition of type datadog_search against Vector's grammar, which uses the first alternative
// that fits. It returns "" for a valid search.
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
	case !isRead || s.at < len(source):
		return fmt.Sprintf("the search is not valid from character %d on", utf8.RuneCountInString(source[:s.furthest])+1)
	}
	return ""
}

// search parses a search. Each method moves behind the text that it reads. If it reports false, it does not move.
type search struct {
	text string
	at   int
	// furthest is the largest offset that could be read.
	furthest, nested int
	// isMixed reports a range with two kinds of brackets. isDeep reports that parentheses are nested deeper than the
	// limit.
	isMixed, isDeep bool
}

// all reads the parts one after the other.
func (s *search) all(parts ...func() bool) bool {
	start := s.at
	for _, part := range parts {
		if !part() {
			s.at = start
			return false
		}
	}
	s.furthest = max(s.furthest, s.at)
	return true
}

// ahead reports whether the part follows, without moving.
func (s *search) ahead(part func() bool) bool {
	start, furthest := s.at, s.furthest
	defer func() { s.at, s.furthest = start, furthest }()
	return part()
}

// many reads the part as often as it occurs.
func (s *search) many(part func() bool) bool {
	for {
		if start := s.at; !part() || s.at == start {
			return true
		}
	}
}

func maybe(part func() bool) func() bool { return func() bool { part(); return true } }

// literal reads one of these texts.
func (s *search) literal(choices ...string) func() bool {
	return func() bool {
		for _, choice := range choices {
			if strings.HasPrefix(s.text[s.at:], choice) {
				s.at += len(choice)
				return true
			}
		}
		return false
	}
}

func (s *search) blanks() bool {
	for s.at < len(s.text) && strings.IndexByte(" \r\n\t", s.text[s.at]) >= 0 {
		s.at++
	}
	return true
}

// character reads a character that is not in a set.
func (s *search) character(except string) bool {
	r, width := utf8.DecodeRuneInString(s.text[s.at:])
	if width == 0 || strings.ContainsRune(except, r) {
		return false
	}
	s.at += width
	return true
}

func (s *search) escaped() bool { return s.all(s.literal(`\`), func() bool { return s.character("") }) }

// query reads clauses one after the other. The first one has no AND or OR before it.
func (s *search) query() bool {
	if s.nested++; s.nested > mostNested {
		s.isDeep = true
		return false
	}
	defer func() { s.nested-- }()
	modified := func() bool {
		return s.all(maybe(s.literal("+", "NOT", "-")), s.blanks, s.clause)
	}
	if !s.terms() && !modified() {
		return false
	}
	return s.many(func() bool {
		return s.all(s.blanks, s.terms) || s.all(s.blanks, maybe(s.literal("AND", "&&", "OR", "||")), s.blanks, modified)
	})
}

// terms reads words that are not part of a clause.
func (s *search) terms() bool {
	isWord := func() bool {
		return s.ahead(func() bool {
			return s.term() && !s.literal(":", "*")() && !s.ahead(func() bool {
				start := s.at
				s.blanks()
				return s.at > start && s.literal("AND", "&&", "OR", "||")()
			})
		})
	}
	return s.all(isWord, s.term) && s.many(func() bool { return s.all(s.blanks, isWord, s.term) })
}

func (s *search) clause() bool {
	field := func() bool { return s.all(s.term, s.literal(":")) }
	return s.all(s.literal("*:*")) ||
		s.all(maybe(field), s.blanks, s.value) ||
		s.all(maybe(field), s.blanks, s.literal("("), s.blanks, s.query, s.blanks, s.literal(")"))
}

func (s *search) value() bool {
	isEnd := func() bool { return s.at == len(s.text) || strings.IndexByte(" \r\n\t)]}", s.text[s.at]) >= 0 }
	return s.all(s.literal("*"), isEnd) || s.phrase() ||
		s.all(s.plain(""), s.literal("*"), isEnd) ||
		s.all(s.literal(">=", "<=", ">", "<"), func() bool { return s.number() || s.term() }) ||
		s.span() || s.all(s.term, isEnd) || s.all(s.plain("*?"), isEnd)
}

// notInTerm are the characters that a term may only have behind a backslash. notFirst are the characters that a term
// may have, except as its first character.
const (
	notInTerm = " \r\n\t\"()[]{}!:~^?*\\><"
	notFirst  = "+-="
)

// plain reads the characters of a term, and some more.
func (s *search) plain(more string) func() bool {
	part := func(except string) bool {
		return s.escaped() || more != "" && s.literal("*", "?")() || !strings.HasPrefix(s.text[s.at:], "UNICODE3000") && s.character(except)
	}
	return func() bool {
		if !part(notInTerm + notFirst) {
			return false
		}
		s.many(func() bool { return part(notInTerm) })
		s.furthest = max(s.furthest, s.at)
		return true
	}
}

func (s *search) term() bool {
	return !s.ahead(s.literal("AND", "&&", "OR", "||", "NOT", "-")) && s.plain("")()
}

func (s *search) phrase() bool {
	inside := func() bool { return s.many(func() bool { return s.escaped() || s.character(`"`) }) }
	return s.all(s.literal(`"`), inside, s.literal(`"`))
}

// number reads a number such as -1.5E10.
func (s *search) number() bool {
	digits := func() bool {
		start := s.at
		for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
			s.at++
		}
		return s.at > start
	}
	fraction := func() bool { return s.all(s.literal("."), digits) }
	simple := func() bool { return s.all(maybe(s.literal("-", `\-`)), digits, maybe(fraction)) }
	return s.all(simple, maybe(func() bool { return s.all(s.literal("E"), simple) }))
}

// span reads [A TO B] or {A TO B}.
func (s *search) span() bool {
	start := s.at
	bound := func() bool {
		start := s.at
		s.many(func() bool { return s.character(" \r\n\t]}") })
		return s.at > start
	}
	if !s.all(s.literal("[", "{"), s.blanks, bound, s.blanks, s.literal("TO"), s.blanks, bound, s.blanks, s.literal("]", "}")) {
		return false
	}
	s.isMixed = s.isMixed || (s.text[start] == '[') != (s.text[s.at-1] == ']')
	return true
}
