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

// A SecondDocumentError says that a YAML text has a second document where one is
// expected, and the line where it begins.
type SecondDocumentError struct{ Line int }

func (e *SecondDocumentError) Error() string {
	return fmt.Sprintf("line %d begins a second document", e.Line)
}

// MeasureYAML checks a YAML text against the limits and returns its size. The error is
// an *Error: syntax errors are not found here.
func (l Limits) MeasureYAML(text []byte) (Size, error) {
	size, hasAliases, err := scanYAML(text, &l)
	if err != nil || !hasAliases {
		return size, err
	}
	var document yaml.Node
	if err := yaml.Unmarshal(text, &document); err != nil {
		return size, nil //nolint:nilerr // The decoder reports it.
	}
	return l.written(text, size, &document)
}

// DecodeYAML decodes the first document of a YAML text as Helm and kubectl do: the last
// of duplicate keys counts, and unknown fields are ignored.
func (l Limits) DecodeYAML(text []byte, into any) error {
	if _, err := l.MeasureYAML(text); err != nil {
		return err
	}
	return sigsyaml.Unmarshal(text, into)
}

// DecodeYAMLStrictly is DecodeYAML, but refuses duplicate keys and unknown fields.
func (l Limits) DecodeYAMLStrictly(text []byte, into any) error {
	if _, err := l.MeasureYAML(text); err != nil {
		return err
	}
	return sigsyaml.UnmarshalStrict(text, into)
}

// Document is a YAML document within the limits, as JSON.
type Document struct{ text []byte }

// ReadDocument reads the first document of a YAML text, to be decoded more than once.
// Duplicate keys are refused.
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

// ReadLastKeys is ReadDocument, but accepts duplicate keys, of which the last counts. duplicates names
// them, and is nil if there are none.
func (l Limits) ReadLastKeys(text []byte) (document *Document, duplicates, err error) {
	if document, duplicates = l.ReadDocument(text); duplicates == nil {
		return document, nil, nil
	}
	if errors.As(duplicates, new(*Error)) {
		return nil, nil, duplicates
	}
	translated, err := sigsyaml.YAMLToJSON(text)
	if err != nil {
		return nil, nil, errors.New(strings.TrimPrefix(err.Error(), "error converting YAML to JSON: "))
	}
	return &Document{translated}, duplicates, nil
}

// Encode returns a decoded object as a document.
func Encode(object map[string]any) (*Document, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	return &Document{text}, nil
}

// Decode ignores unknown fields.
func (d *Document) Decode(into any) error { return json.Unmarshal(d.text, into) }

// DecodeStrictly decodes as the API server does, and returns all unknown fields.
func (d *Document) DecodeStrictly(into any) (findings []error, err error) {
	return kjson.UnmarshalStrict(d.text, into)
}

// ReadYAML returns the root node of a YAML text, with lines; nil if the text is empty.
// Aliases are not expanded. With a *SecondDocumentError, it is the root of the first
// document.
func (l Limits) ReadYAML(text []byte) (*yaml.Node, error) {
	size, hasAliases, err := scanYAML(text, &l)
	if err != nil {
		return nil, err
	}
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil //nolint:nilnil // An empty text is no error.
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
