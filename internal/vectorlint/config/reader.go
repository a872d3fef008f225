// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package config

import (
	"encoding/json"

	"github.com/pelletier/go-toml/v2/unstable"
	"go.yaml.in/yaml/v3"
)

// Reader parses and checks Vector configuration with the parsers and the limits of the caller. All fields are
// required.
type Reader struct {
	// YAML, JSON and TOML create parsers for a text. If a YAML text has several documents, YAML returns the
	// first document and an error. An error with a position in the text must be a TextError.
	YAML func(text []byte) (*yaml.Node, error)
	JSON func(text []byte) (*json.Decoder, error)
	TOML func(text []byte) (*unstable.Parser, error)
	// MaxBytes is the maximum size of a file in bytes, before and after its variables are replaced.
	MaxBytes int
	// Nearest returns the candidate that is most similar to a misspelled name, or "" if no candidate is
	// similar.
	Nearest func(name string, candidates []string) string
}

// TextError is an error of a parser with a position in the text.
type TextError interface {
	error
	// Position returns the line and the column, starting at 1, or 0 if the error concerns the whole text.
	Position() (line, column int)
	// Problem returns the message without the position. If the text exceeds a limit, help explains how to stay
	// within the limit. For all other errors, help is "".
	Problem() (message, help string)
}
