// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"

	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// Reader reads and checks Vector configuration with the parsers and the limits of its caller. All fields are required.
type Reader struct {
	// YAML, JSON and TOML start to parse a text. If a YAML text has several documents, YAML returns the first one and
	// an error. An error with a place in the text is a TextError.
	YAML func(text []byte) (*yaml.Node, error)
	JSON func(text []byte) (*json.Decoder, error)
	TOML func(text []byte) (*unstable.Parser, error)
	// MaxBytes is the maximum size of a text, also after its variables are replaced.
	MaxBytes int
	// Nearest returns the candidate that a misspelled name probably means, "" if there is none.
	Nearest func(name string, candidates []string) string
}

// TextError is an error of a parser with its place in the text.
type TextError interface {
	error
	// Position returns line and column, from 1, or 0 if the whole text is meant.
	Position() (line, column int)
	// Problem returns the message without the place, and how to stay within a limit. The help is empty for all other
	// errors.
	Problem() (message, help string)
}
