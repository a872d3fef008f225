// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "bytes"

// yamlScanner scans YAML like libyaml, of which both libraries in use are ports, and
// counts instead of making tokens. It may go on where libyaml ends with an error:
// nothing after that place is ever read.
//
// A node is counted where there is room for one, not where its content is: after "-",
// on both sides of ":", between two commas.
type yamlScanner struct {
	tally

	pos int
	// line counts from 0, column counts characters, as the indentation does.
	line, column int
	// flow is the number of open brackets.
	flow int
	// key is where a simple key may have begun, which only the ":" after it shows;
	// mayKey reports whether one may begin here.
	key    simpleKey
	mayKey bool
	// inKey reports whether a "?" came before, so that what follows is a key.
	inKey bool
	// isBare reports whether a "?" in a flow sequence came immediately before.
	isBare bool
	// aliasAt is the offset of the first anchor or alias, -1 for none.
	aliasAt int
	// ended reports that no parser goes beyond this place.
	ended bool
}

// simpleKey is where a key may have begun, and its depth if it is in brackets.
type simpleKey struct {
	isPossible                 bool
	pos, line, column, deepest int
}

// longestSimpleKey is how many characters libyaml looks ahead for the ":".
const longestSimpleKey = 1024

// perDocument is the number of nodes of an empty document: itself and its root.
const perDocument = 2

// scanYAML measures a text. hasAliases reports whether it has aliases, which are not
// expanded in size.
func scanYAML(text []byte, limits *Limits) (size Size, hasAliases bool, err error) {
	s := &yamlScanner{tally: tally{limits: limits, text: text, size: Size{Bytes: len(text)}}, mayKey: true, aliasAt: -1}
	if err := limits.fits(text); err != nil {
		return s.size, false, err
	}
	if s.hasPrefix("\xff\xfe") || s.hasPrefix("\xfe\xff") {
		return s.size, false, refusal(Bytes, "write it as UTF-8", "it is UTF-16")
	}
	if s.hasPrefix(byteOrderMark) {
		s.pos = len(byteOrderMark)
	}
	if n := bytes.Index(text[s.pos:], []byte(byteOrderMark)); n >= 0 {
		// Depending on where its buffer ends, libyaml takes one for a blank, or for the
		// first character of each line.
		return s.size, false, refusal(Bytes, "remove it", "a byte order mark (U+FEFF) that is not at the beginning").at(text, s.pos+n)
	}
	err = s.add(0, perDocument)
	for err == nil && !s.ended {
		if err = s.skipBlanks(); err == nil {
			err = s.token()
		}
	}
	return s.size, s.aliasAt >= 0, err
}

const byteOrderMark = "\xef\xbb\xbf"

// skipBlanks advances to the next token.
func (s *yamlScanner) skipBlanks() error {
	for {
		for s.isBlank(s.pos) {
			s.skip(1)
		}
		if s.at(s.pos) == '#' {
			if err := s.add(s.pos, 1); err != nil { // One library keeps comments.
				return err
			}
			s.skipLine()
		}
		if !s.newline() {
			return nil
		}
		if s.flow == 0 {
			s.mayKey = true
		}
	}
}

// token counts the token that begins here.
func (s *yamlScanner) token() error {
	s.unroll(s.column)
	c := s.at(s.pos)
	isBare := s.isBare
	s.isBare = false
	switch {
	case isBare && (c == ',' || c == ']' || c == ':'):
		// libyaml drops what follows, which may be the end of the list: then each list
		// is nested in the one before.
		return refusal(Depth, "leave it out, or quote it", "\"?\" has no key behind it, so that where the list ends is not clear").at(s.text, s.pos)
	case c == 0:
		s.ended = true
		return nil
	case s.column == 0 && c == '%':
		s.unroll(-1)
		s.dropKey(false)
		s.skipLine()
		s.newline()
		return nil
	case s.atMarker():
		s.unroll(-1)
		s.dropKey(false)
		s.skip(len("---"))
		return s.add(s.pos, perDocument)
	case c == '-' && s.isBlankOrEnd(s.pos+1):
		return s.blockEntry()
	case c == '?' && (s.flow > 0 || s.isBlankOrEnd(s.pos+1)):
		return s.explicitKey()
	case c == ':' && (s.flow > 0 || s.isBlankOrEnd(s.pos+1)):
		return s.value()
	}
	switch c {
	case '[':
		return s.openFlow(flowList)
	case '{':
		return s.openFlow(flowMap)
	case ']', '}':
		s.closeFlow()
		return nil
	case ',':
		return s.comma()
	}
	return s.content(c)
}

// content counts a scalar, an alias, or a property of one.
func (s *yamlScanner) content(c byte) error {
	from := s.pos
	switch c {
	case '*', '&', '!':
		if c != '!' && s.aliasAt < 0 {
			s.aliasAt = s.pos
			if !s.limits.Aliases {
				return refusal(Aliases, "write out what they stand for, and quote a text that begins with one of these", "anchors and aliases (& and *) may not be in %s", s.limits.What).at(s.text, s.pos)
			}
		}
		s.saveKey()
		s.mayKey = false
		for s.skip(1); !s.isBlankOrEnd(s.pos) && (c == '!' || isName(s.text[s.pos])); {
			s.advance()
		}
		return s.fill(from)
	case '|', '>':
		if s.flow > 0 {
			s.ended = true
			return nil
		}
		s.dropKey(true)
		s.blockScalar()
	case '\'', '"':
		s.saveKey()
		s.mayKey = false
		s.quoted(c)
	case '@', '`', '%', '#':
		s.ended = true // No token begins with this.
		return nil
	default:
		s.saveKey()
		s.mayKey = false
		s.plain()
	}
	return s.scalar(from)
}

// scalar counts one that ends here, which may be a key.
func (s *yamlScanner) scalar(from int) error {
	if err := s.fill(from); err != nil {
		return err
	}
	last := s.top()
	isKey := s.inKey || last != nil && last.kind == flowMap && !last.isKeyed
	if !isKey {
		return nil
	}
	s.inKey = false
	return s.tally.key(from, len(bytes.TrimRight(s.text[from:min(s.pos, len(s.text))], " \t\r\n")))
}

// fill counts the room that a bracket or a comma has made, when something comes.
func (s *yamlScanner) fill(offset int) error {
	last := s.top()
	if last == nil || s.flow == 0 || last.isFilled {
		return nil
	}
	last.isFilled, last.start = true, offset
	if last.kind == flowMap {
		return s.add(offset, 2)
	}
	return s.add(offset, 1)
}

// blockEntry is "- ".
func (s *yamlScanner) blockEntry() error {
	if s.flow > 0 {
		s.ended = true
		return nil
	}
	if err := s.roll(s.column, blockList); err != nil {
		return err
	}
	if s.top().kind == blockMap {
		if err := s.beginInner(s.pos); err != nil {
			return err
		}
	}
	s.dropKey(true)
	s.skip(1)
	return s.add(s.pos, 1)
}

// explicitKey is "? ".
func (s *yamlScanner) explicitKey() error {
	if s.flow == 0 {
		if err := s.mapEntry(s.column, 0); err != nil {
			return err
		}
	}
	s.dropKey(s.flow == 0)
	s.skip(1)
	s.inKey = true
	if s.flow > 0 {
		s.isBare = s.top().kind == flowList
		return s.fillKey()
	}
	return s.add(s.pos, 2)
}

// value is ": ".
func (s *yamlScanner) value() error {
	defer s.skip(1)
	s.inKey = false
	if s.flow > 0 {
		s.mayKey = false
		err := s.fillKey()
		s.top().isKeyed = true
		return err
	}
	known := s.key
	s.key.isPossible = false
	if known.isPossible && known.line == s.line && s.column-known.column <= longestSimpleKey {
		s.mayKey = false
		if err := s.mapEntry(known.column, s.pos-known.pos); err != nil {
			return err
		}
		if known.deepest > 0 {
			s.size.Depth = max(s.size.Depth, known.deepest+1)
		}
		return s.add(s.pos, 2)
	}
	s.mayKey = true
	if err := s.roll(s.column, blockMap); err != nil {
		return err
	}
	return s.add(s.pos, 2)
}

// fillKey counts an entry in brackets that has a key; in a list, it is a map of its own.
func (s *yamlScanner) fillKey() error {
	if err := s.fill(s.pos); err != nil {
		return err
	}
	last := s.top()
	if last.kind == flowMap || last.isKeyed {
		return nil
	}
	last.isKeyed = true
	if err := s.tally.key(last.start, s.pos-last.start); err != nil {
		return err
	}
	if err := s.beginInner(s.pos); err != nil {
		return err
	}
	if last.entry > 0 { // The key is itself a map or a list.
		last.deepest = max(last.deepest, last.entry+1)
		s.size.Depth = max(s.size.Depth, last.deepest)
	}
	return s.add(s.pos, 2)
}
