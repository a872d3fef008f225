// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Values is the merged tree, with the origin of every leaf.
type Values struct {
	// Tree holds the values as JSON types. It must not be modified, because it may be shared.
	Tree map[string]any

	layers []Layer
}

// Origin returns the layer and line of the value at a path. For a map, it returns the origin of its
// first leaf. It returns "" if the value does not exist.
func (v Values) Origin(path ...string) string {
	if origin := v.originOfLeaf(path); origin != "" {
		return origin
	}
	leaf := firstLeaf(v.branchesAt(path), slices.Clone(path))
	if leaf == nil {
		return ""
	}
	return v.originOfLeaf(leaf)
}

// originOfLeaf returns the last layer with a value other than a map at a path, "" if there is none.
func (v Values) originOfLeaf(path []string) string {
	for i := range slices.Backward(v.layers) {
		layer := &v.layers[i]
		if value, ok := tree.Value(layer.Tree, path...); ok {
			if _, isMap := value.(map[string]any); !isMap {
				return layer.Position(path...)
			}
		}
	}
	return ""
}

// branchesAt returns the maps that the layers have at a path.
func (v Values) branchesAt(path []string) []map[string]any {
	var branches []map[string]any
	for i := range v.layers {
		if value, ok := tree.Value(v.layers[i].Tree, path...); ok {
			if branch, isMap := value.(map[string]any); isMap {
				branches = append(branches, branch)
			}
		}
	}
	return branches
}

// firstLeaf returns the path of the first leaf in any of several maps at a path, nil if
// there is none.
func firstLeaf(trees []map[string]any, path []string) []string {
	keys := map[string]bool{}
	for _, tree := range trees {
		for key := range tree {
			keys[key] = true
		}
	}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		var deeper []map[string]any
		childPath := append(path, key) //nolint:gocritic // Siblings reuse the same array, one after the other.
		for _, tree := range trees {
			value, ok := tree[key]
			branch, isMap := value.(map[string]any)
			switch {
			case isMap:
				deeper = append(deeper, branch)
			case ok:
				return childPath
			}
		}
		if leaf := firstLeaf(deeper, childPath); leaf != nil {
			return leaf
		}
	}
	return nil
}

// Leaf is a value that is not a map, and its origin.
type Leaf struct {
	// Path is the path in the notation of users: sidecar.logs.path.
	Path   string `json:"path"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

// ListLeaves returns all leaves, sorted by path.
func (v Values) ListLeaves() []Leaf {
	var leaves []Leaf
	visitLeaves(v.Tree, nil, func(path []string) bool {
		if len(path) > 0 {
			value, _ := tree.Value(v.Tree, path...)
			leaves = append(leaves, Leaf{Path: tree.JoinPath(path...), Value: value, Origin: v.Origin(path...)})
		}
		return true
	})
	return leaves
}

// OriginsBelow returns the origins of the values at and below a path, sorted and without
// duplicates.
func (v Values) OriginsBelow(path ...string) []string {
	origins := map[string]bool{}
	visitLeaves(tree.MapAt(v.Tree, path...), slices.Clone(path), func(path []string) bool {
		if origin := v.Origin(path...); origin != "" {
			origins[origin] = true
		}
		return true
	})
	return slices.Sorted(maps.Keys(origins))
}

// mergeValues merges the layers with Helm's own code. Helm treats the first layer as the chart's values and the
// others as the user's. A null in the user's values deletes a value of the chart. Among the user's values, a null is
// kept.
func mergeValues(layers []Layer) Values {
	tree := map[string]any{}
	for _, layer := range slices.Backward(layers[1:]) {
		tree = chartutil.MergeTables(tree, deepCopy(layer.Tree))
	}
	tree = chartutil.CoalesceTables(tree, deepCopy(layers[0].Tree))
	return Values{Tree: tree, layers: layers}
}

func deepCopy(tree map[string]any) map[string]any {
	return copyValue(tree).(map[string]any)
}

// copyValue returns a deep copy of a value of JSON types.
func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		copied := make(map[string]any, len(v))
		for key, item := range v {
			copied[key] = copyValue(item)
		}
		return copied
	case []any:
		copied := make([]any, len(v))
		for i, item := range v {
			copied[i] = copyValue(item)
		}
		return copied
	default:
		return v
	}
}
