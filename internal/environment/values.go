// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package environment

import (
	"maps"
	"slices"

	"helm.sh/helm/v3/pkg/chartutil"
)

// Path writes the path of a value as a person does: sidecar.logs.path.
func Path(keys ...string) string { return join(keys) }

// Values is the merged tree and the origin of every leaf in it.
type Values struct {
	// Tree holds the values in JSON's types. It belongs to the caller.
	Tree map[string]any

	origins map[string]string
}

// Origin returns where the value at a path came from: layer and line. For a map
// it is the origin of the map's first leaf; "" when there is no such value.
func (v Values) Origin(path ...string) string {
	if origin, ok := v.origins[join(path)]; ok {
		return origin
	}
	for _, key := range slices.Sorted(maps.Keys(v.origins)) {
		if prefix := join(path); len(key) > len(prefix) && key[:len(prefix)] == prefix && (key[len(prefix)] == '.' || key[len(prefix)] == '[') {
			return v.origins[key]
		}
	}
	return ""
}

// Leaf is one value that is no map, and where it came from.
type Leaf struct {
	// Path is written as a person does: sidecar.logs.path.
	Path   string `json:"path"`
	Value  any    `json:"value"`
	Origin string `json:"origin"`
}

// Leaves lists all values by their path.
func (v Values) Leaves() []Leaf { return v.leaves(v.Tree, nil) }

func (v Values) leaves(tree map[string]any, path []string) []Leaf {
	var found []Leaf
	for _, key := range slices.Sorted(maps.Keys(tree)) {
		at := slices.Concat(path, []string{key})
		if branch, ok := tree[key].(map[string]any); ok && len(branch) > 0 {
			found = append(found, v.leaves(branch, at)...)
			continue
		}
		found = append(found, Leaf{Path: join(at), Value: tree[key], Origin: v.Origin(at...)})
	}
	return found
}

// merge lays later layers over earlier ones with Helm's own code. The first
// layer is what Helm calls the chart's values, the others what it calls the
// user's: among those a null is kept, over the first it deletes.
func merge(layers []Layer) Values {
	tree := map[string]any{}
	for _, layer := range slices.Backward(layers[1:]) {
		tree = chartutil.MergeTables(tree, deepCopy(layer.Tree))
	}
	tree = chartutil.CoalesceTables(tree, deepCopy(layers[0].Tree))
	values := Values{Tree: tree, origins: map[string]string{}}
	for i := range layers {
		values.trace(&layers[i], layers[i].Tree, nil)
	}
	return values
}

// trace notes a layer as the origin of all that it sets.
func (v *Values) trace(layer *Layer, tree map[string]any, path []string) {
	for key, value := range tree {
		at := slices.Concat(path, []string{key})
		if branch, ok := value.(map[string]any); ok {
			v.trace(layer, branch, at)
			continue
		}
		v.origins[join(at)] = layer.Where(at...)
	}
}

func deepCopy(tree map[string]any) map[string]any {
	return copyValue(tree).(map[string]any)
}

func copyValue(value any) any {
	switch v := value.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for key, item := range v {
			out[key] = copyValue(item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = copyValue(item)
		}
		return out
	default:
		return v
	}
}
