// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// ParseOverrides parses values that are not set by the platform team. Call MaySet first, because
// values that are not allowed need not be parsed.
func ParseOverrides(name string, text []byte) (Layer, error) {
	return parseLayer(name, text, bounded.Overrides())
}

// ParseValue parses a single value into a layer that sets only this value. The path is dotted, for
// example sidecar.resources. Call MaySet first.
func ParseValue(name, path string, text []byte) (Layer, error) {
	layer, limits := Layer{Name: name, Tree: map[string]any{}}, bounded.Overrides()
	keys := strings.Split(path, ".")
	if slices.Contains(keys, "") {
		return Layer{}, fmt.Errorf("%s: %q is not the path of a value, such as sidecar.resources", name, path)
	}
	root, err := parseDocument(text, limits)
	if err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	if root != nil {
		if err := (&position{}).indexKeys(root, nil); err != nil {
			return Layer{}, fmt.Errorf("%s: line %w", name, err)
		}
	}
	var value any
	if err := limits.DecodeYAML(text, &value); err != nil {
		return Layer{}, fmt.Errorf("%s: %w", name, err)
	}
	branch := layer.Tree
	for _, key := range keys[:len(keys)-1] {
		child := map[string]any{}
		branch[key], branch = child, child
	}
	branch[keys[len(keys)-1]] = value
	return layer, nil
}

// MaySet reports whether a value at a path could set a value at or below one of the allowed paths.
// The empty path stands for all values.
func MaySet(path string, allowed []string) bool {
	target := splitPath(path)
	return slices.ContainsFunc(allowed, func(prefix string) bool {
		keys := splitPath(prefix)
		shorter := min(len(keys), len(target))
		return slices.Equal(keys[:shorter], target[:shorter])
	})
}

// splitPath returns the keys of a dotted path, or nil for "".
func splitPath(path string) []string {
	if path == "" {
		return nil
	}
	return strings.Split(path, ".")
}

// maxOutside is the maximum number of paths that DisallowedPaths returns.
const maxOutside = 20

// DisallowedPaths returns the paths of the layer's leaves that are not at or below one of the
// allowed paths, sorted, up to maxOutside. An empty map is a leaf.
func (l *Layer) DisallowedPaths(allowed []string) []string {
	var prefixes [][]string
	for _, prefix := range allowed {
		prefixes = append(prefixes, strings.Split(prefix, "."))
	}
	var outside []string
	visitLeaves(l.Tree, nil, func(path []string) bool {
		inside := func(keys []string) bool { return len(keys) <= len(path) && slices.Equal(keys, path[:len(keys)]) }
		if len(path) > 0 && !slices.ContainsFunc(prefixes, inside) {
			outside = append(outside, tree.JoinPath(path...))
		}
		return len(outside) < maxOutside
	})
	return outside
}

// visitLeaves calls a function for each leaf of a tree until the function returns false, and reports whether it
// visited all leaves. The function must not retain the path.
func visitLeaves(tree map[string]any, path []string, leaf func(path []string) bool) bool {
	if len(tree) == 0 {
		return leaf(path)
	}
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		childPath := append(path, key) //nolint:gocritic // Siblings reuse the same array, one after the other.
		branch, isMap := tree[key].(map[string]any)
		if isMap && !visitLeaves(branch, childPath, leaf) || !isMap && !leaf(childPath) {
			return false
		}
	}
	return true
}
