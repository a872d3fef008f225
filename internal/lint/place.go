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

// place is a position in a file, from 1; 0 means unknown.
type place struct{ line, column int }

// places finds the positions of the keys of a YAML document.
type places struct {
	root *yaml.Node
	// first is the line of the file where the document starts.
	first int
}

// placesOf reads a document. An invalid document has no places.
func placesOf(text []byte, first int) *places {
	root, err := bounded.Object().ReadYAML(text)
	if err != nil && !errors.As(err, new(*bounded.SecondDocumentError)) {
		root = nil
	}
	return &places{root: root, first: first}
}

// of returns the place of the last key of a path, or of the nearest existing key above it.
func (p *places) of(path ...string) place {
	if p.root == nil {
		return place{line: p.first}
	}
	node, at := p.root, p.root
	for _, step := range path {
		key, value := child(node, step)
		if key == nil {
			break
		}
		node, at = value, key
	}
	return place{line: p.first - 1 + at.Line, column: at.Column}
}

// child returns the node that names a step, and the node below it.
func child(node *yaml.Node, step string) (key, value *yaml.Node) {
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

// top returns the top-level keys of a document.
func (p *places) top() []string {
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

// lineOf returns the line in an error of a YAML library, 0 for none.
func lineOf(err error) int {
	if match := lineIn.FindStringSubmatch(err.Error()); match != nil {
		number, _ := strconv.Atoi(match[1])
		return number
	}
	return 0
}

// unknownFieldsIn returns the unknown fields in an error of strict decoding.
func unknownFieldsIn(err error) []source.UnknownFieldError {
	var all []source.UnknownFieldError
	switch e := err.(type) { //nolint:errorlint // The branches below unwrap it.
	case *source.UnknownFieldError:
		return []source.UnknownFieldError{*e}
	case interface{ Unwrap() []error }:
		for _, joined := range e.Unwrap() {
			all = append(all, unknownFieldsIn(joined)...)
		}
		return all
	case interface{ Unwrap() error }:
		return unknownFieldsIn(e.Unwrap())
	}
	for _, match := range fieldIn.FindAllStringSubmatch(err.Error(), -1) {
		all = append(all, source.UnknownFieldError{Path: match[1]})
	}
	return all
}

// stepsOf splits a path such as sinks.out.inputs[0].
func stepsOf(path string) []string {
	return strings.Split(indexIn.ReplaceAllString(path, ".$1"), ".")
}

// hasMap reports whether the value of a top-level key is a map. In a Chart.yaml, the value may be a list of links.
func (p *places) hasMap(key string) bool {
	if p.root == nil {
		return false
	}
	name, value := child(p.root, key)
	return name != nil && (value.Kind == yaml.MappingNode || value.Kind == yaml.AliasNode)
}

// has reports whether the document has all keys of a path.
func (p *places) has(path ...string) bool {
	if p.root == nil {
		return false
	}
	node := p.root
	for _, step := range path {
		key, value := child(node, step)
		if key == nil {
			return false
		}
		node = value
	}
	return true
}
