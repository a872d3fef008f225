// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Hash is a digest of what is applied to a workload: {metadata: {annotations},
// spec: {template}}. What was applied and what the API server made of it have the
// same hash, and any change to one of the applied values gives another, the
// bookkeeping apart. Workloads carry what an earlier release made of it, so that
// another digest of the same would have all of them written anew.
func Hash(applied map[string]any) string {
	return meta.Digest([]byte(jsonText(normal("", withoutBookkeeping(applied)))), 12)
}

// withoutBookkeeping returns what is applied without the annotations that say how it
// came about.
func withoutBookkeeping(applied map[string]any) map[string]any {
	annotations := tree.At(applied, "metadata", "annotations")
	if annotations == nil {
		return applied
	}
	metadata, kept := maps.Clone(tree.Map(applied["metadata"])), maps.Clone(annotations)
	maps.DeleteFunc(kept, func(key string, _ any) bool { return meta.IsBookkeeping(key) })
	metadata["annotations"], applied = kept, maps.Clone(applied)
	applied["metadata"] = metadata
	return applied
}

// atomicDefaults are the values that the API server adds inside of atomic values.
// Those are owned as a whole, so that the added field looks as if we had sent it.
var atomicDefaults = map[string]struct{ field, value string }{
	"fieldRef":            {"apiVersion", `"v1"`},
	"serviceAccountToken": {"expirationSeconds", "3600"},
}

// normal leaves out what the API server adds, and the order of list items that
// have a name: another manager's items may come to lie between ours.
func normal(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		added, hasDefault := atomicDefaults[key]
		out := make(map[string]any, len(v))
		for name, item := range v {
			if hasDefault && name == added.field && jsonText(item) == added.value {
				continue
			}
			out[name] = normal(name, item)
		}
		return out
	case []any:
		out := make([]any, len(v))
		named := len(v) > 0
		for i, item := range v {
			out[i] = normal("", item)
			if _, isMap := item.(map[string]any); !isMap {
				named = false
			}
		}
		if named {
			sortByText(out)
		}
		return out
	default:
		return v
	}
}

// sortByText sorts items by how they are written.
func sortByText(items []any) {
	type written struct {
		text string
		item any
	}
	all := make([]written, len(items))
	for i, item := range items {
		all[i] = written{jsonText(item), item}
	}
	slices.SortFunc(all, func(a, b written) int { return strings.Compare(a.text, b.text) })
	for i := range all {
		items[i] = all[i].item
	}
}
