// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package tree reads and builds decoded JSON: maps, lists and scalars. It knows the path to the pod of a workload,
// and nothing else about Kubernetes.
package tree

// Map returns a value as a map, or nil if the value is not a map. Reading from a nil map is allowed.
func Map(value any) map[string]any {
	m, _ := value.(map[string]any)
	return m
}

// List returns a value as a list, or nil if the value is not a list.
func List(value any) []any {
	list, _ := value.([]any)
	return list
}

// Name returns the field name of a list item, or "" if the item has no name.
func Name(item any) string {
	name, _ := Map(item)["name"].(string)
	return name
}

// Value returns the value at a path, and false if the path does not exist.
func Value(tree map[string]any, path ...string) (value any, ok bool) {
	value = tree
	for _, key := range path {
		if value, ok = Map(value)[key]; !ok {
			return nil, false
		}
	}
	return value, true
}

// MapAt returns the map at a path, or nil if the path has no map.
func MapAt(tree map[string]any, path ...string) map[string]any {
	for _, key := range path {
		tree = Map(tree[key])
	}
	return tree
}

// Text returns the string at a path, or "" if the path has no string.
func Text(tree map[string]any, path ...string) string {
	value, _ := Value(tree, path...)
	text, _ := value.(string)
	return text
}

// EnsureMap returns the map at a path. It creates missing maps, and replaces values that are not maps.
func EnsureMap(tree map[string]any, path ...string) map[string]any {
	for _, key := range path {
		child := Map(tree[key])
		if child == nil {
			child = map[string]any{}
			tree[key] = child
		}
		tree = child
	}
	return tree
}

// Pod is the path to the pod spec in a workload's JSON.
var Pod = []string{"spec", "template", "spec"}
