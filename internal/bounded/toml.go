// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	burntsushi "github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MeasureTOML holds a TOML text to the limits, and tells what it comes to. The error is
// an *Error: what is wrong with the grammar is not found here.
func (l Limits) MeasureTOML(text []byte) (Size, error) {
	s := tomlScanner{tally: begin(text, &l), inKey: true}
	return s.scan(s.token)
}

// DecodeTOML reads a TOML text as Helm does.
func (l Limits) DecodeTOML(text []byte, into any) error {
	if _, err := l.MeasureTOML(text); err != nil {
		return err
	}
	return burntsushi.Unmarshal(text, into)
}

// ReadTOML returns a parser that gives the expressions of a TOML text, with their
// positions, after the library's decoder has judged the text: only that knows all rules
// of what may be defined twice. The error may be a *toml.DecodeError.
func (l Limits) ReadTOML(text []byte) (*unstable.Parser, error) {
	l.Nodes /= 2 // The decoder compares each key with all that are beside it.
	if _, err := l.MeasureTOML(text); err != nil {
		return nil, err
	}
	var judged map[string]any
	if err := toml.Unmarshal(text, &judged); err != nil {
		return nil, err
	}
	parser := &unstable.Parser{}
	parser.Reset(text)
	return parser, nil
}
