// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/json"
)

// longestNumber is the maximum length of a JSON number in bytes, and longestExponent the maximum length of its
// exponent. Without them, processing a number of a few bytes can take gigabytes.
const (
	// longestNumber is the maximum length of a JSON number in bytes, and longestExponent the maximum length of its
	// exponent. Without these limits, decoding a number of a few bytes could take gigabytes.
	longestNumber   = 128
	longestExponent = 3
)

// A WrongTypeError reports a JSON value of another type than expected.
type WrongTypeError = json.UnmarshalTypeError

// MeasureJSON checks a JSON text against the limits, and returns its size. The error is an
// *Error: syntax errors are not detected here.
func (l Limits) MeasureJSON(text []byte) (Size, error) {
	if err := l.CheckSize(text); err != nil {
		return Size{Bytes: len(text)}, err
	}
	s := jsonScanner{meter: newMeter(&l, text), text: text}
	start, err := 0, s.countNode()
	for err == nil && s.pos < len(text) {
		start = s.pos
		err = s.scanToken()
	}
	if err != nil {
		return s.size, err.withOffset(text, start)
	}
	return s.size, nil
}

// DecodeJSON decodes a JSON text and ignores unknown fields. It returns an *Error if the text exceeds the limits.
func (l Limits) DecodeJSON(text []byte, into any) error {
	if _, err := l.MeasureJSON(text); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// ReadJSON returns a decoder for the tokens of a JSON text.
func (l Limits) ReadJSON(text []byte) (*json.Decoder, error) {
	if _, err := l.MeasureJSON(text); err != nil {
		return nil, err
	}
	return json.NewDecoder(bytes.NewReader(text)), nil
}

// jsonScanner counts the values in a JSON text. It is ten times as fast as a decoder. For an invalid text, it may count
// too many values.
type jsonScanner struct {
	meter

	text []byte
	// pos is the offset up to which the text was scanned.
	pos int
	// levels are the open maps and lists.
	levels []jsonLevel
}

// jsonLevel is an open map or list. isFilled reports whether the current entry has its key, or the current item its value.
type jsonLevel struct{ isMap, isFilled bool }

func (s *jsonScanner) scanToken() *Error {
	c := s.text[s.pos]
	start := s.pos
	s.pos++
	var top *jsonLevel
	if len(s.levels) > 0 {
		top = &s.levels[len(s.levels)-1]
	}
	switch c {
	case ' ', '\t', '\r', '\n':
		return nil
	case '}', ']':
		if top != nil {
			s.levels = s.levels[:len(s.levels)-1]
			s.closeDeeperThan(len(s.levels))
		}
		return nil
	case ',':
		if top != nil {
			top.isFilled = false
		}
		return nil
	case ':':
		return s.countNode() // The value that follows.
	case '"':
		s.skipString()
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if err := s.scanNumber(start); err != nil {
			return err
		}
	}
	if top != nil && !top.isFilled {
		if err := s.scanItem(top, start); err != nil {
			return err
		}
	}
	if c != '{' && c != '[' {
		return nil
	}
	s.levels = append(s.levels, jsonLevel{isMap: c == '{'})
	return s.openLevel()
}

// scanItem counts the key of an entry, or an item, that starts at an offset.
func (s *jsonScanner) scanItem(level *jsonLevel, start int) *Error {
	level.isFilled = true
	if level.isMap {
		return s.countKey(s.pos - start)
	}
	return s.countNode()
}

// skipString moves past the quote that ends a string.
func (s *jsonScanner) skipString() {
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		s.pos++
		switch c {
		case '"':
			return
		case '\\':
			s.pos = min(s.pos+1, len(s.text))
		}
	}
}

// scanNumber moves past a number. It returns an error if no float can represent the number.
func (s *jsonScanner) scanNumber(start int) *Error {
	exponent := 0
	for ; s.pos < len(s.text) && isNumber(s.text[s.pos]); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == 'e' || c == 'E':
			exponent = s.pos + 1
		case (c == '+' || c == '-') && exponent == s.pos:
			exponent++
		}
	}
	if s.pos-start > longestNumber || exponent > 0 && s.pos-exponent > longestExponent {
		return newError(Numbers, "round it", "the number %.20s… is too long or too large for %s", s.text[start:s.pos], s.limits.Subject)
	}
	return nil
}

func isNumber(c byte) bool {
	return '0' <= c && c <= '9' || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}
