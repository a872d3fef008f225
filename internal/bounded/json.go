// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/json"
)

// longestNumber is how many bytes a number of JSON has at most, and longestExponent its
// exponent: to work with one of a few bytes may take gigabytes.
const (
	longestNumber   = 128
	longestExponent = 3
)

// MeasureJSON holds a JSON text to the limits, and tells what it comes to. The error is
// an *Error: what is wrong with the grammar is not found here.
func (l Limits) MeasureJSON(text []byte) (Size, error) {
	s := jsonScanner{tally: begin(text, &l)}
	return s.scan(s.token)
}

// DecodeJSON reads a JSON text. What a type does not know is left out.
func (l Limits) DecodeJSON(text []byte, into any) error {
	if _, err := l.MeasureJSON(text); err != nil {
		return err
	}
	return json.Unmarshal(text, into)
}

// ReadJSON returns a decoder that gives the tokens of a JSON text.
func (l Limits) ReadJSON(text []byte) (*json.Decoder, error) {
	if _, err := l.MeasureJSON(text); err != nil {
		return nil, err
	}
	return json.NewDecoder(bytes.NewReader(text)), nil
}

// jsonScanner counts the values of a JSON text. In one that is none, it may count more.
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

// item counts what a list holds, when its first byte comes.
func (s *jsonScanner) item(offset int) error {
	last := s.top()
	if last == nil || last.kind != flowList || last.isFilled {
		return nil
	}
	last.isFilled = true
	return s.add(offset, 1)
}

// skipText goes behind the quote that ends a text.
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

// number refuses one that no float can hold.
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
