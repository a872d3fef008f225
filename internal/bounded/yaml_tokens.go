// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

// openFlow handles "[" or "{".
func (s *yamlScanner) openFlow(kind kind) error {
	if err := s.fill(s.pos); err != nil {
		return err
	}
	s.saveKey()
	s.flow++
	s.mayKey = true
	if err := s.open(s.pos, kind, 0); err != nil {
		return err
	}
	s.skip(1)
	return nil
}

// closeFlow handles "]" or "}".
func (s *yamlScanner) closeFlow() {
	if s.flow == 0 {
		s.ended = true
		return
	}
	if s.flow--; s.flow == 0 {
		s.key.deepest = s.top().deepest
	}
	s.close()
	s.mayKey = false
	s.skip(1)
}

func (s *yamlScanner) comma() error {
	if s.flow == 0 {
		s.ended = true
		return nil
	}
	last := s.top()
	last.isFilled, last.isKeyed, last.entry = false, false, 0
	s.endInner()
	s.mayKey, s.inKey = true, false
	s.skip(1)
	return s.tally.key(s.pos, 0)
}

// mapEntry begins another entry of the block mapping at a column, with a key of that
// many bytes.
func (s *yamlScanner) mapEntry(column, key int) error {
	if err := s.roll(column, blockMap); err != nil {
		return err
	}
	s.endInner()
	return s.tally.key(s.pos-key, key)
}

// roll opens a block that is indented deeper than the one around it.
func (s *yamlScanner) roll(column int, kind kind) error {
	if s.indent() < column {
		return s.open(s.pos, kind, column)
	}
	return nil
}

// unroll closes the blocks that are indented deeper than a column.
func (s *yamlScanner) unroll(column int) {
	for s.flow == 0 && s.indent() > column {
		s.close()
	}
}

// indent returns the column of the innermost block, -1 for none.
func (s *yamlScanner) indent() int {
	if blocks := len(s.levels) - s.flow; blocks > 0 {
		return s.levels[blocks-1].column
	}
	return -1
}

func (s *yamlScanner) saveKey() {
	if s.mayKey && s.flow == 0 {
		s.key = simpleKey{isPossible: true, pos: s.pos, line: s.line, column: s.column}
	}
}

// dropKey forgets where a simple key may have begun.
func (s *yamlScanner) dropKey(mayKey bool) {
	if s.flow == 0 {
		s.key.isPossible = false
	}
	s.mayKey = mayKey
}

// plain skips a plain scalar.
func (s *yamlScanner) plain() {
	indent, isAfterBreak := s.indent()+1, false
	for !s.atMarker() && s.at(s.pos) != '#' {
		from := s.pos
		for s.skipWord(); !s.isBlankOrEnd(s.pos) && !s.endsPlain(); s.skipWord() {
			s.advance()
		}
		if s.pos > from {
			isAfterBreak = false
		}
		from = s.pos
		for s.isBlank(s.pos) || s.isBreak(s.pos) {
			if s.newline() {
				isAfterBreak = true
				continue
			}
			s.skip(1)
		}
		if s.pos == from || s.flow == 0 && s.column < indent {
			break
		}
	}
	if isAfterBreak {
		s.mayKey = true
	}
}

func (s *yamlScanner) endsPlain() bool {
	switch s.text[s.pos] {
	case ':':
		return s.isBlankOrEnd(s.pos + 1)
	case ',', '?', '[', ']', '{', '}':
		return s.flow > 0
	}
	return false
}

// quoted skips a quoted scalar.
func (s *yamlScanner) quoted(quote byte) {
	s.skip(1)
	for {
		if s.atMarker() || s.at(s.pos) == 0 {
			s.ended = true
			return
		}
		for s.skipWord(); !s.isBlankOrEnd(s.pos); s.skipWord() {
			c := s.text[s.pos]
			switch {
			case c == quote && quote == '\'' && s.at(s.pos+1) == quote:
				s.skip(2)
			case c == quote:
				s.skip(1)
				return
			case c == '\\' && quote == '"' && s.isBreak(s.pos+1):
				s.skip(1)
				s.newline()
			case c == '\\' && quote == '"':
				s.skip(1)
				s.advance()
			default:
				s.advance()
			}
		}
		for s.isBlank(s.pos) || s.isBreak(s.pos) {
			if !s.newline() {
				s.skip(1)
			}
		}
	}
}

// blockScalar skips a scalar that "|" or ">" begins.
func (s *yamlScanner) blockScalar() {
	indent := 0
	for s.skip(1); s.at(s.pos) == '+' || s.at(s.pos) == '-' || isDigit(s.at(s.pos)); s.skip(1) {
		if isDigit(s.text[s.pos]) {
			indent = max(s.indent(), 0) + int(s.text[s.pos]-'0')
		}
	}
	s.skipLine()
	s.newline()
	for indent = s.skipIndent(indent); s.column == indent && s.at(s.pos) != 0; {
		s.skipLine()
		s.newline()
		s.skipIndent(indent)
	}
}

// skipIndent advances to the next non-empty line of a block scalar and returns its
// indentation: the given one, or the detected one if that is 0.
func (s *yamlScanner) skipIndent(indent int) int {
	widest := 0
	for {
		for (indent == 0 || s.column < indent) && s.at(s.pos) == ' ' {
			s.skip(1)
		}
		widest = max(widest, s.column)
		if !s.newline() {
			break
		}
	}
	if indent == 0 {
		return max(widest, s.indent()+1, 1)
	}
	return indent
}

// at returns the byte at an offset, 0 at the end.
func (s *yamlScanner) at(offset int) byte {
	if offset < len(s.text) {
		return s.text[offset]
	}
	return 0
}

func (s *yamlScanner) hasPrefix(prefix string) bool {
	return len(s.text)-s.pos >= len(prefix) && string(s.text[s.pos:s.pos+len(prefix)]) == prefix
}

// skip advances over n characters of one byte each.
func (s *yamlScanner) skip(n int) { s.pos, s.column = s.pos+n, s.column+n }

// advance advances over one character.
func (s *yamlScanner) advance() {
	for s.skip(1); s.pos < len(s.text) && s.text[s.pos]&0xc0 == 0x80; {
		s.pos++
	}
}

// skipWord advances over characters that are not part of the syntax.
func (s *yamlScanner) skipWord() {
	from := s.pos
	for s.pos < len(s.text) && isWord(s.text[s.pos]) {
		s.pos++
	}
	s.column += s.pos - from
}

// newline advances over a line break, and reports whether there was one.
func (s *yamlScanner) newline() bool {
	if !s.isBreak(s.pos) {
		return false
	}
	switch {
	case s.hasPrefix("\r\n"), s.text[s.pos] == 0xc2:
		s.pos += 2
	case s.text[s.pos] == 0xe2:
		s.pos += 3
	default:
		s.pos++
	}
	s.line, s.column = s.line+1, 0
	return true
}

// skipLine advances to the end of the line.
func (s *yamlScanner) skipLine() {
	for ; s.pos < len(s.text); s.pos++ {
		switch s.text[s.pos] {
		case 0, '\n', '\r', 0xc2, 0xe2:
			if s.text[s.pos] == 0 || s.isBreak(s.pos) {
				return
			}
		}
	}
}

func (s *yamlScanner) isBlank(offset int) bool {
	c := s.at(offset)
	return c == ' ' || c == '\t'
}

// isBreak reports whether a line break of YAML 1.1 is at an offset.
func (s *yamlScanner) isBreak(offset int) bool {
	switch s.at(offset) {
	case '\n', '\r':
		return true
	case 0xc2:
		return s.at(offset+1) == 0x85
	case 0xe2:
		return s.at(offset+1) == 0x80 && (s.at(offset+2) == 0xa8 || s.at(offset+2) == 0xa9)
	}
	return false
}

func (s *yamlScanner) isBlankOrEnd(offset int) bool {
	return s.at(offset) == 0 || s.isBlank(offset) || s.isBreak(offset)
}

// atMarker reports whether a document begins or ends here.
func (s *yamlScanner) atMarker() bool {
	return s.column == 0 && (s.hasPrefix("---") || s.hasPrefix("...")) && s.isBlankOrEnd(s.pos+3)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// isWord reports whether a character is one that scalars mostly consist of.
func isWord(c byte) bool {
	return isName(c) || c == '.' || c == '/' || c == '(' || c == ')' || c == '=' || c == '$'
}

// isName reports whether a character may be in an anchor's name.
func isName(c byte) bool {
	return isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || c == '_' || c == '-'
}
