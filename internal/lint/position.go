// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lint

import (
	"errors"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
)

// position is a line and a column in a file, starting at 1. 0 means unknown.
type position struct{ line, column int }

// positions finds the positions of the keys of a YAML document.
type positions struct {
	root *yaml.Node
	// firstLine is the line of the file on which the document starts.
	firstLine int
}

// newPositions parses a document. For an invalid document, all positions are the first line.
func newPositions(text []byte, firstLine int) *positions {
	root, err := bounded.Object().ReadYAML(text)
	if err != nil && !errors.As(err, new(*bounded.SecondDocumentError)) {
		root = nil
	}
	return &positions{root: root, firstLine: firstLine}
}

// findKey returns the position of the last key in a path. If that key does not exist, it returns the position
// of the closest existing key above it.
func (p *positions) findKey(path ...string) position {
	if p.root == nil {
		return position{line: p.firstLine}
	}
	node, keyNode := p.root, p.root
	for _, step := range path {
		key, value := childNode(node, step)
		if key == nil {
			break
		}
		node, keyNode = value, key
	}
	return position{line: p.firstLine - 1 + keyNode.Line, column: keyNode.Column}
}

// childNode returns the key node and the value node of one step below a node, or nil if the step does not exist.
// For a list, the step is an index, and both nodes are the item.
func childNode(node *yaml.Node, step string) (key, value *yaml.Node) {
	switch node.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(node.Content); i += 2 {
			if node.Content[i].Value == step {
				return node.Content[i], node.Content[i+1]
			}
		}
	case yaml.SequenceNode:
		if n, err := strconv.Atoi(step); err == nil && n >= 0 && n < len(node.Content) {
			return node.Content[n], node.Content[n]
		}
	}
	return nil, nil
}

// topKeys returns the top-level keys of the document.
func (p *positions) topKeys() []string {
	var keys []string
	if p.root == nil || p.root.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(p.root.Content); i += 2 {
		keys = append(keys, p.root.Content[i].Value)
	}
	return keys
}

var (
	lineIn  = regexp.MustCompile(`\bline (\d+)`)
	fieldIn = regexp.MustCompile(`(?:unknown|duplicate) field "([^"]+)"`)
	indexIn = regexp.MustCompile(`\[(\d+)\]`)
)

// errorLine returns the line that an error of a YAML library names, or 0 for none.
func errorLine(err error) int {
	if match := lineIn.FindStringSubmatch(err.Error()); match != nil {
		number, _ := strconv.Atoi(match[1])
		return number
	}
	return 0
}

// unknownFieldsIn returns the unknown fields that an error of strict decoding names.
func unknownFieldsIn(err error) []source.UnknownFieldError {
	var fieldErrors []source.UnknownFieldError
	switch e := err.(type) { //nolint:errorlint // The branches below unwrap it.
	case *source.UnknownFieldError:
		return []source.UnknownFieldError{*e}
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			fieldErrors = append(fieldErrors, unknownFieldsIn(joined)...)
		}
		return fieldErrors
	case interface{ Unwrap() error }:
		return unknownFieldsIn(e.Unwrap())
	}
	for _, match := range fieldIn.FindAllStringSubmatch(err.Error(), -1) {
		fieldErrors = append(fieldErrors, source.UnknownFieldError{Path: match[1]})
	}
	return fieldErrors
}

// splitPath splits a path such as sinks.out.inputs[0] into its keys and indexes.
func splitPath(path string) []string {
	return strings.Split(indexIn.ReplaceAllString(path, ".$1"), ".")
}

// hasMap reports whether the document has a top-level key with a map as its value. The key sources of a
// Chart.yaml, for example, has a list.
func (p *positions) hasMap(key string) bool {
	if p.root == nil {
		return false
	}
	name, value := childNode(p.root, key)
	return name != nil && (value.Kind == yaml.MappingNode || value.Kind == yaml.AliasNode)
}

// hasPath reports whether all keys of a path exist.
func (p *positions) hasPath(path ...string) bool {
	if p.root == nil {
		return false
	}
	node := p.root
	for _, step := range path {
		key, value := childNode(node, step)
		if key == nil {
			return false
		}
		node = value
	}
	return true
}
