// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"go.yaml.in/yaml/v3"
	kjson "sigs.k8s.io/json"
	sigsyaml "sigs.k8s.io/yaml"
)

// A SecondDocumentError says that a YAML text that is to have one document has another,
// which begins on a line.
type SecondDocumentError struct{ Line int }

func (e *SecondDocumentError) Error() string {
	return fmt.Sprintf("line %d begins a second document", e.Line)
}

// MeasureYAML holds a YAML text to the limits, and tells what it comes to. The error is
// an *Error: what is wrong with the grammar is not found here.
func (l Limits) MeasureYAML(text []byte) (Size, error) {
	size, hasAliases, err := scanYAML(text, &l)
	if err != nil || !hasAliases {
		return size, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return size, nil //nolint:nilerr // Whoever reads it says so.
	}
	return l.written(text, size, &document)
}

// DecodeYAML reads the first document of a YAML text as Helm and kubectl do: of a key
// that is given twice the last one counts, and what a type does not know is left out.
func (l Limits) DecodeYAML(text []byte, into any) error {
	if _, err := l.MeasureYAML(text); err != nil {
		return err
	}
	return sigsyaml.Unmarshal(text, into)
}

// DecodeYAMLStrictly is DecodeYAML, but refuses keys that are given twice or not known.
func (l Limits) DecodeYAMLStrictly(text []byte, into any) error {
	if _, err := l.MeasureYAML(text); err != nil {
		return err
	}
	return sigsyaml.UnmarshalStrict(text, into)
}

// Document is a YAML document that has passed, as JSON.
type Document struct{ text []byte }

// ReadDocument reads the first document of a YAML text, which may be decoded more than
// once then. A key that is given twice is refused.
func (l Limits) ReadDocument(text []byte) (*Document, error) {
	if _, err := l.MeasureYAML(text); err != nil {
		return nil, err
	}
	translated, err := sigsyaml.YAMLToJSONStrict(text)
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	return &Document{translated}, nil
}

// Decode leaves out what a type does not know.
func (d *Document) Decode(into any) error { return json.Unmarshal(d.text, into) }

// DecodeStrictly decodes as the API server does, and returns all fields that are not
// known.
func (d *Document) DecodeStrictly(into any) (findings []error, err error) {
	return kjson.UnmarshalStrict(d.text, into)
}

// ReadYAML returns the root node of a YAML text, with its lines; nil if there is nothing
// in it. Aliases stand in it as aliases. With a *SecondDocumentError, it is the root of
// the first document.
func (l Limits) ReadYAML(text []byte) (*yaml.Node, error) {
	size, hasAliases, err := scanYAML(text, &l)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil //nolint:nilnil // Nothing is nothing, and no fault.
	case err != nil:
		return nil, err
	}
	if hasAliases {
		if _, err := l.written(text, size, &document); err != nil {
			return nil, err
		}
	}
	var root *yaml.Node
	if len(document.Content) > 0 {
		root = document.Content[0]
	}
	switch err := decoder.Decode(&second); {
	case err == nil:
		return root, &SecondDocumentError{Line: second.Line}
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return root, nil
}
