// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	burntsushi "github.com/BurntSushi/toml"
	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// MeasureTOML checks a TOML text against the limits and returns its size. The error is
// an *Error: syntax errors are not found here.
func (l Limits) MeasureTOML(text []byte) (Size, error) {
	s := tomlScanner{tally: begin(text, &l), inKey: true}
	return s.scan(s.token)
}

// DecodeTOML decodes a TOML text as Helm does.
func (l Limits) DecodeTOML(text []byte, into any) error {
	if _, err := l.MeasureTOML(text); err != nil {
		return err
	}
	return burntsushi.Unmarshal(text, into)
}

// ReadTOML returns a parser for the expressions of a TOML text, with positions. The
// library's decoder has checked the text before: only it knows all rules on what may be
// defined twice. The error may be a *toml.DecodeError.
func (l Limits) ReadTOML(text []byte) (*unstable.Parser, error) {
	l.Nodes /= 2 // The decoder compares each key with all its siblings.
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
