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

// A SecondDocumentError reports that a YAML text has a second document instead of one, and the line where that
// document starts.
type SecondDocumentError struct{ Line int }

// Position returns Line; the column is always 0.
func (e *SecondDocumentError) Position() (line, column int) { return e.Line, 0 }

// Problem returns the message without the line; the help is always empty.
func (e *SecondDocumentError) Problem() (message, help string) { return "a second document", "" }

func (e *SecondDocumentError) Error() string {
	return fmt.Sprintf("line %d starts a second document", e.Line)
}

// MeasureYAML checks the first document of a YAML text against the limits and returns its size. The error is an *Error.
// MeasureYAML leaves a syntax error to the decoder if the decoder finds one, too. The decoder is another parser, which
// ignores some texts after the document: the size of such a text is unknown. With aliases, decoding before measuring
// would be unsafe.
func (l Limits) MeasureYAML(text []byte) (Size, error) {
	_, size, err := l.parseYAMLDocument(yaml.NewDecoder(bytes.NewReader(text)), text)
	if err == nil || errors.As(err, new(*Error)) {
		return size, err
	}
	hasAliases := bytes.ContainsRune(text, '&') && bytes.ContainsRune(text, '*')
	if !hasAliases && !isDecodable(text) {
		return size, nil
	}
	return size, newError(Bytes, "correct the syntax", "%s", strings.TrimPrefix(err.Error(), "yaml: "))
}

func isDecodable(text []byte) bool { return sigsyaml.Unmarshal(text, new(any)) == nil }

// DecodeYAML decodes the first document of a YAML text as Helm and kubectl do. The last of duplicate keys counts.
// Unknown fields are ignored.
func (l Limits) DecodeYAML(text []byte, into any) error {
	if _, err := l.MeasureYAML(text); err != nil {
		return err
	}
	return sigsyaml.Unmarshal(text, into)
}

// DecodeYAMLStrictly decodes as DecodeYAML does, but rejects duplicate keys and unknown fields.
func (l Limits) DecodeYAMLStrictly(text []byte, into any) error {
	if _, err := l.MeasureYAML(text); err != nil {
		return err
	}
	return sigsyaml.UnmarshalStrict(text, into)
}

// Document is a YAML document within the limits, as JSON.
type Document struct{ text []byte }

// ReadDocument reads the first document of a YAML text, to be decoded more than once. It rejects duplicate keys.
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

// ReadLastKeys reads as ReadDocument does, but accepts duplicate keys: the last one counts. The second result is an
// error that names the duplicate keys, or nil if the text has none.
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

// Decode decodes the document. It ignores unknown fields.
func (d *Document) Decode(into any) error { return json.Unmarshal(d.text, into) }

// DecodeStrictly decodes as the API server does, and returns all unknown fields.
func (d *Document) DecodeStrictly(into any) (findings []error, err error) {
	return kjson.UnmarshalStrict(d.text, into)
}

// ReadYAML returns the root node of a YAML text, with lines; nil if the text is empty. Aliases are not expanded. With
// a *SecondDocumentError, the node is the root of the first document.
func (l Limits) ReadYAML(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	root, _, err := l.parseYAMLDocument(decoder, text)
	if err != nil {
		return nil, err
	}
	var second yaml.Node
	switch err := decoder.Decode(&second); {
	case err == nil:
		return root, &SecondDocumentError{Line: second.Line}
	case !errors.Is(err, io.EOF):
		return nil, err
	}
	return root, nil
}
