// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Limits of one values file. They are far above what a sidecar needs and far
// below what would hurt the process.
const (
	maxBytes = 1 << 20
	maxDepth = 100
)

// Layer is one source of values. Later layers win over earlier ones.
type Layer struct {
	// Name says where the values come from, as a person would look for it:
	// a file, a key of a ConfigMap, an object.
	Name string
	// Tree holds the values in JSON's types.
	Tree map[string]any

	lines map[string]int
}

// ParseLayer reads a values file. The error names the file and the line.
func ParseLayer(name string, text []byte) (Layer, error) {
	if len(text) > maxBytes {
		return Layer{}, fmt.Errorf("%s: %d bytes are more than a values file may have (%d)", name, len(text), maxBytes)
	}
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	root, err := parseDocument(text)
	if err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	layer := Layer{Name: name, Tree: map[string]any{}, lines: map[string]int{}}
	if root == nil {
		return layer, nil
	}
	if root.Kind != yaml.MappingNode {
		return Layer{}, fmt.Errorf("%s:%d: values must be a map at the top level, as in \"sidecar: {…}\"", name, root.Line)
	}
	if err := layer.index(root, nil); err != nil {
		return Layer{}, fmt.Errorf("%s:%w", name, err)
	}
	// Helm reads values with this library, which differs from the other in
	// what counts as a boolean; the other one is here for its positions.
	if err := sigsyaml.Unmarshal(text, &layer.Tree); err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	return layer, nil
}

// parseDocument returns the root node of a file's only document, nil if empty.
func parseDocument(text []byte) (*yaml.Node, error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	var document, second yaml.Node
	if err := decoder.Decode(&document); errors.Is(err, io.EOF) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("reading YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	if err := decoder.Decode(&second); err == nil {
		return nil, fmt.Errorf("line %d begins a second document: a values file has one", second.Line)
	} else if !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("reading YAML: %s", strings.TrimPrefix(err.Error(), "yaml: "))
	}
	root := document.Content[0]
	if root.Kind == yaml.ScalarNode && root.Tag == "!!null" {
		return nil, nil
	}
	return root, nil
}

// index records the line of every key, and refuses what YAML libraries accept
// in silence. Errors begin with the line.
func (l *Layer) index(node *yaml.Node, path []string) error {
	if len(path) > maxDepth {
		return fmt.Errorf("%d: values are nested deeper than %d levels", node.Line, maxDepth)
	}
	switch node.Kind {
	case yaml.SequenceNode:
		for i, item := range node.Content {
			if err := l.index(item, append(path, fmt.Sprint(i))); err != nil {
				return err
			}
		}
	case yaml.MappingNode:
		return l.indexMap(node, path)
	}
	return nil
}

func (l *Layer) indexMap(node *yaml.Node, path []string) error {
	for i := 0; i < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		at := slices.Concat(path, []string{key.Value})
		if first, ok := l.lines[join(at)]; ok {
			return fmt.Errorf("%d: %s is given twice, first in line %d", key.Line, join(at), first)
		}
		l.lines[join(at)] = key.Line
		if err := l.index(value, at); err != nil {
			return err
		}
	}
	return nil
}

// Where returns the place of a path in this layer: the name, and the line of the
// nearest key on the way to it when the layer is a file.
func (l *Layer) Where(path ...string) string {
	for n := len(path); n > 0; n-- {
		if line, ok := l.lines[join(path[:n])]; ok {
			return fmt.Sprintf("%s:%d", l.Name, line)
		}
	}
	return l.Name
}

// join writes a path as a person does. A key that holds a dot is kept apart by
// brackets, so that no two paths are written alike.
func join(path []string) string {
	var b strings.Builder
	for i, key := range path {
		switch {
		case strings.ContainsAny(key, ".[]"):
			fmt.Fprintf(&b, "[%q]", key)
		case i > 0:
			b.WriteString("." + key)
		default:
			b.WriteString(key)
		}
	}
	return b.String()
}
