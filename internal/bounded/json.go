// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/json"
)

// longestNumber is the maximum length of a JSON number in bytes, and longestExponent that of
// its exponent: processing a number of a few bytes can otherwise take gigabytes.
const (
	longestNumber   = 128
	longestExponent = 3
)

// A WrongTypeError says what a text has where something else is expected.
type WrongTypeError = json.UnmarshalTypeError

// MeasureJSON checks a JSON text against the limits, and returns its size. The error is an
// *Error: syntax errors are not detected here.
func (l Limits) MeasureJSON(text []byte) (Size, error) {
	s := jsonScanner{tally: begin(text, &l)}
	return s.scan(s.token)
}

// DecodeJSON decodes a JSON text. Unknown fields are ignored.
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

// jsonScanner counts the values of a JSON text. It may count too many if the text is not
// valid.
type jsonScanner struct{ tally }

func (s *jsonScanner) token() error {
	from := s.pos
	s.pos++
	last := s.top()
	switch c := s.text[from]; c {
	case ' ', '\t', '\r', '\n':
		return nil
	case '}', ']':
		s.close()
		return nil
	case ',':
		if last != nil {
			last.isFilled, last.isKeyed = false, false
		}
		return nil
	case ':':
		if last != nil {
			last.isKeyed = true
		}
		return s.add(from, 1)
	case '"':
		s.skipText()
		if last != nil && last.kind == flowMap && !last.isKeyed {
			if err := s.key(from, s.pos-from); err != nil {
				return err
			}
			return s.add(from, 1)
		}
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		if err := s.number(from); err != nil {
			return err
		}
	}
	if err := s.item(from); err != nil {
		return err
	}
	switch s.text[from] {
	case '{':
		return s.open(from, flowMap, 0)
	case '[':
		return s.open(from, flowList, 0)
	}
	return nil
}

// item counts a list's item at its first byte.
func (s *jsonScanner) item(offset int) error {
	last := s.top()
	if last == nil || last.kind != flowList || last.isFilled {
		return nil
	}
	last.isFilled = true
	return s.add(offset, 1)
}

// skipText moves past the quote that ends a string.
func (s *jsonScanner) skipText() {
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

// number rejects numbers that no float can represent.
func (s *jsonScanner) number(from int) error {
	exponent := 0
	for ; s.pos < len(s.text) && isNumber(s.text[s.pos]); s.pos++ {
		switch c := s.text[s.pos]; {
		case c == 'e' || c == 'E':
			exponent = s.pos + 1
		case (c == '+' || c == '-') && exponent == s.pos:
			exponent++
		}
	}
	if s.pos-from > longestNumber || exponent > 0 && s.pos-exponent > longestExponent {
		return refusal(Numbers, "round it", "the number %.20s… is longer or larger than one in %s may be", s.text[from:s.pos], s.limits.What).at(s.text, from)
	}
	return nil
}

func isNumber(c byte) bool {
	return isDigit(c) || c == '.' || c == 'e' || c == 'E' || c == '+' || c == '-'
}
