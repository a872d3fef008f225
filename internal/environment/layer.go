// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Layer is one source of values. Later layers override earlier ones.
type Layer struct {
	// Name is the origin of the values for users: a file, a key of a ConfigMap, an object.
	Name string
	// Tree holds the values as JSON types.
	Tree map[string]any

	// lines has the line of every key of a file. It is empty if the values are not from a file.
	lines position
}

// position is the position of a key, and the keys below it.
type position struct {
	// source is the name of the layer that contains the key. It is empty for the Layer itself.
	source string
	// line is 0 if the source is not a file.
	line     int
	children map[string]*position
}

// ParseLayer parses a values file of the platform team. The error names the file and the
// line.
func ParseLayer(name string, text []byte) (Layer, error) {
	return parseLayer(name, text, bounded.Values())
}

// ParseStored parses a layer that was written again after ParseLayer accepted it, and that may have become longer.
// Its size limit is therefore higher.
func ParseStored(name string, text []byte) (Layer, error) {
	limits := bounded.Values()
	limits.Bytes = bounded.StoredConfigMap().Bytes
	return parseLayer(name, text, limits)
}

// parseLayer parses a values file within limits. An empty file is an empty layer.
func parseLayer(name string, text []byte, limits bounded.Limits) (Layer, error) {
	root, err := parseDocument(text, limits)
	if err != nil {
		return Layer{}, bounded.WithFile(name, err)
	}
	layer := Layer{Name: name, Tree: map[string]any{}}
	if root == nil {
		return layer, nil
	}
	if root.Kind != yaml.MappingNode {
		return Layer{}, fmt.Errorf("%s:%d: values must be a map at the top level, as in \"sidecar: {…}\"", name, root.Line)
	}
	if err := layer.lines.indexKeys(root, nil); err != nil {
		return Layer{}, fmt.Errorf("%s:%w", name, err)
	}
	// Helm decodes values with this library, which parses booleans differently than yaml.v3.
	// yaml.v3 is used for its line numbers.
	if err := limits.DecodeYAML(text, &layer.Tree); err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	return layer, nil
}

// parseDocument returns the root node of a file's only document, nil if it is empty.
func parseDocument(text []byte, limits bounded.Limits) (*yaml.Node, error) {
	root, err := limits.ReadYAML(text)
	switch {
	case errors.As(err, new(*bounded.Error)):
		return nil, err
	case errors.As(err, new(*bounded.SecondDocumentError)):
		return nil, fmt.Errorf("%w; write one document per values file", err)
	case err != nil:
		return nil, fmt.Errorf("reading YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	case root != nil && root.Kind == yaml.ScalarNode && root.Tag == "!!null":
		return nil, nil //nolint:nilnil // A null document counts as empty.
	}
	return root, nil
}

// indexKeys records the line of every key below a node, and rejects duplicate keys, which YAML libraries may accept
// silently. Errors start with the line.
func (p *position) indexKeys(node *yaml.Node, path []string) error {
	switch node.Kind {
	case yaml.SequenceNode:
		for i, item := range node.Content {
			step := strconv.Itoa(i)
			if err := p.ensureChild(step).indexKeys(item, append(path, step)); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		for i := 0; i < len(node.Content); i += 2 {
			key, keyPath := node.Content[i], append(path, node.Content[i].Value) //nolint:gocritic // Siblings reuse the same array, one after the other.
			child := p.ensureChild(key.Value)
			if child.line > 0 {
				return fmt.Errorf("%d: duplicate key %s, first in line %d", key.Line, tree.JoinPath(keyPath...), child.line)
			}
			child.line = key.Line
			if err := child.indexKeys(node.Content[i+1], keyPath); err != nil {
				return err
			}
		}
	}
	return nil
}

// ensureChild returns the position of a key below this position, and creates it if needed.
func (p *position) ensureChild(key string) *position {
	child := p.children[key]
	if child == nil {
		child = &position{}
		if p.children == nil {
			p.children = map[string]*position{}
		}
		p.children[key] = child
	}
	return child
}

// find returns the position of a path below this position. It is empty if there is none.
func (p *position) find(path ...string) position {
	match := *p
	for _, key := range path {
		child := match.children[key]
		if child == nil {
			return position{}
		}
		match = *child
	}
	return match
}

// Position returns the position of a path in this layer: the layer's name, and, for a file, the line
// of the path's deepest key that has one.
func (l *Layer) Position(path ...string) string {
	source, line, position := l.Name, 0, l.lines
	for _, key := range path {
		if position = position.find(key); position.line > 0 || position.source != "" {
			source, line = cmp.Or(position.source, l.Name), position.line
		}
	}
	if line == 0 {
		return source
	}
	return fmt.Sprintf("%s:%d", source, line)
}
