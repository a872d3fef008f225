// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"strings"
)

// tomlScanner counts the values of a TOML text; in an invalid one it may count too
// many. Each part of a dotted key is a level of its own.
type tomlScanner struct {
	tally

	// flow is the number of open brackets in a value.
	flow int
	// table is the number of levels of the last header.
	table int
	// inKey reports whether a key may begin or continue, inHeader whether it is a
	// table's.
	inKey, inHeader bool
}

func (s *tomlScanner) token() error {
	from := s.pos
	s.pos++
	switch c := s.text[from]; c {
	case ' ', '\t', '\r':
	case '\n':
		s.endLine()
	case '#':
		s.skipTo("\n")
	case '=':
		s.inKey = false
	case ',':
		s.comma()
	case '[':
		return s.openBracket()
	case '{':
		return s.openFlow(from, flowMap)
	case ']', '}':
		s.closeBracket()
	case '"', '\'':
		s.skipText(from)
		return s.word(from)
	case '.':
		return s.dot(from)
	default:
		return s.bare(from)
	}
	return nil
}

// dot continues a key. A part of a header that is followed by others may be an array of
// tables, if an earlier header says so.
func (s *tomlScanner) dot(from int) error {
	switch {
	case !s.inKey:
		return s.bare(from)
	case s.inHeader && len(s.levels) > 0:
		return s.beginInner(from)
	}
	return nil
}

// bare handles a text without quotes.
func (s *tomlScanner) bare(from int) error {
	ends := ",]}#\n"
	if s.inKey {
		ends = " \t\r\n.=[]{},#\"'"
	}
	s.skipTo(ends)
	return s.word(from)
}

// word counts a part of a key, or a value.
func (s *tomlScanner) word(from int) error {
	if !s.inKey {
		return s.item(from)
	}
	return s.part(from, s.pos-from)
}

func (s *tomlScanner) part(from, bytes int) error {
	if err := s.open(from, blockMap, 0); err != nil {
		return err
	}
	if err := s.key(from, bytes); err != nil {
		return err
	}
	return s.add(from, 2)
}

// item counts an item of a list.
func (s *tomlScanner) item(offset int) error {
	last := s.top()
	if last == nil || last.kind != flowList || last.isFilled {
		return nil
	}
	last.isFilled = true
	return s.add(offset, 1)
}

func (s *tomlScanner) openBracket() error {
	switch from := s.pos - 1; {
	case !s.inKey || s.flow > 0:
		return s.openFlow(from, flowList)
	case s.inHeader: // The second of "[[".
		if err := s.open(from, blockList, 0); err != nil {
			return err
		}
		return s.add(from, 1)
	}
	s.closeTo(0)
	s.inHeader = true
	return nil
}

func (s *tomlScanner) openFlow(from int, kind kind) error {
	if err := s.item(from); err != nil {
		return err
	}
	s.flow++
	s.inKey = kind == flowMap
	return s.open(from, kind, 0)
}

func (s *tomlScanner) closeBracket() {
	if s.inHeader {
		s.inHeader = false
		s.table = len(s.levels)
		return
	}
	s.closeParts()
	if s.flow > 0 {
		s.flow--
		s.close()
	}
	s.inKey = false
}

func (s *tomlScanner) comma() {
	if s.flow == 0 {
		return
	}
	s.closeParts()
	last := s.top()
	last.isFilled = false
	s.inKey = last.kind == flowMap
}

// closeParts ends a dotted key in brackets.
func (s *tomlScanner) closeParts() {
	for s.flow > 0 && s.top().kind == blockMap {
		s.close()
	}
}

func (s *tomlScanner) endLine() {
	if s.flow > 0 {
		return
	}
	if s.inHeader {
		s.inHeader = false
		s.table = len(s.levels)
	}
	s.closeTo(s.table)
	s.inKey = true
}

func (s *tomlScanner) closeTo(levels int) {
	for len(s.levels) > levels {
		s.close()
	}
}

// skipTo advances to the next of some characters, or to the end.
func (s *tomlScanner) skipTo(ends string) {
	if n := bytes.IndexAny(s.text[s.pos:], ends); n >= 0 {
		s.pos += n
		return
	}
	s.pos = len(s.text)
}

// skipText advances past a quoted text. A key cannot be a multi-line text.
func (s *tomlScanner) skipText(from int) {
	quote := s.text[from]
	three := strings.Repeat(string(quote), 3)
	isLong := !s.inKey && bytes.HasPrefix(s.text[from:], []byte(three))
	if isLong {
		s.pos = from + len(three)
	}
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		switch {
		case c == '\\' && quote == '"':
			s.pos++ // What follows is no quote; a line break ends the text as well.
		case c == '\n' && !isLong:
			return
		case c == quote && !isLong:
			s.pos++
			return
		case c == quote && bytes.HasPrefix(s.text[s.pos:], []byte(three)):
			s.pos += len(s.text[s.pos:]) - len(bytes.TrimLeft(s.text[s.pos:], string(quote)))
			return
		}
		s.pos++
	}
	s.pos = min(s.pos, len(s.text))
}
