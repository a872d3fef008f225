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

// Hash returns a digest of the applied fields of a workload: {metadata: {annotations}, spec: {template}}. The body of
// an apply and its live values in the API server have the same hash. Every change of an applied value changes the hash,
// except changes of annotations that only record something. Later releases must compute the same hash, because
// workloads store it: otherwise the operator would write all workloads again.
func Hash(applied map[string]any) string {
	return meta.Digest([]byte(jsonText(normalizeValue("", withoutBookkeeping(applied)))), 12)
}

// withoutBookkeeping returns a body without the operator's annotations that only record something, such as
// change-cause.
func withoutBookkeeping(applied map[string]any) map[string]any {
	annotations := tree.MapAt(applied, "metadata", "annotations")
	if annotations == nil {
		return applied
	}
	metadata, remaining := maps.Clone(tree.Map(applied["metadata"])), maps.Clone(annotations)
	maps.DeleteFunc(remaining, func(key string, _ any) bool { return meta.IsBookkeeping(key) })
	metadata["annotations"], applied = remaining, maps.Clone(applied)
	applied["metadata"] = metadata
	return applied
}

// atomicDefaults are defaults that the API server adds inside atomic values. A manager owns an atomic value as
// a whole, so the added defaults look like applied fields.
var atomicDefaults = map[string]struct{ field, value string }{
	"fieldRef":            {"apiVersion", `"v1"`},
	"serviceAccountToken": {"expirationSeconds", "3600"},
}

// normalizeValue returns a value without the API server's defaults and with sorted list items. The order of items is
// irrelevant, because other managers may insert items between them.
func normalizeValue(key string, value any) any {
	switch v := value.(type) {
	case map[string]any:
		added, hasDefault := atomicDefaults[key]
		result := make(map[string]any, len(v))
		for name, item := range v {
			if hasDefault && name == added.field && jsonText(item) == added.value {
				continue
			}
			result[name] = normalizeValue(name, item)
		}
		return result
	case []any:
		result := make([]any, len(v))
		named := len(v) > 0
		for i, item := range v {
			result[i] = normalizeValue("", item)
			if _, isMap := item.(map[string]any); !isMap {
				named = false
			}
		}
		if named {
			sortByText(result)
		}
		return result
	default:
		return v
	}
}

// sortByText sorts items by their JSON.
func sortByText(items []any) {
	type written struct {
		text string
		item any
	}
	entries := make([]written, len(items))
	for i, item := range items {
		entries[i] = written{jsonText(item), item}
	}
	slices.SortFunc(entries, func(a, b written) int { return strings.Compare(a.text, b.text) })
	for i := range entries {
		items[i] = entries[i].item
	}
}
