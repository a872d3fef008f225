// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"
)

// ParseValue reads the text of one value as a layer that sets nothing else. path
// is written with dots, as in sidecar.resources.
func ParseValue(name, path string, text []byte) (Layer, error) {
	layer := Layer{Name: name, Tree: map[string]any{}}
	keys := strings.Split(path, ".")
	if slices.Contains(keys, "") {
		return Layer{}, fmt.Errorf("%s: %q is not the path of a value, such as sidecar.resources", name, path)
	}
	if len(text) > maxBytes {
		return Layer{}, fmt.Errorf("%s: %d bytes are more than a value may have (%d)", name, len(text), maxBytes)
	}
	root, err := parseDocument(text)
	if err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	if root != nil {
		checked := Layer{lines: map[string]int{}}
		if err := checked.index(root, nil); err != nil {
			return Layer{}, fmt.Errorf("%s: line %w", name, err)
		}
	}
	var value any
	if err := sigsyaml.Unmarshal(text, &value); err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	at := layer.Tree
	for _, key := range keys[:len(keys)-1] {
		next := map[string]any{}
		at[key], at = next, next
	}
	at[keys[len(keys)-1]] = value
	return layer, nil
}

// Outside lists the paths of the layer's leaves that lie neither at nor below one
// of the paths allowed, sorted. An empty map is a leaf.
func (l *Layer) Outside(allowed []string) []string {
	var outside []string
	visit(l.Tree, nil, func(path []string) {
		inside := func(prefix string) bool {
			keys := strings.Split(prefix, ".")
			return len(keys) <= len(path) && slices.Equal(keys, path[:len(keys)])
		}
		if len(path) > 0 && !slices.ContainsFunc(allowed, inside) {
			outside = append(outside, join(path))
		}
	})
	return outside
}

func visit(tree map[string]any, path []string, leaf func([]string)) {
	if len(tree) == 0 {
		leaf(path)
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		at := slices.Concat(path, []string{key})
		if branch, ok := tree[key].(map[string]any); ok {
			visit(branch, at, leaf)
			continue
		}
		leaf(at)
	}
}
