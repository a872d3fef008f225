// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"
	"slices"
	"strings"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// atomic are the fields of a pod with a map that managed fields list as a whole. For all other maps, and for the lists
// in keyed, an entry without children owns only the empty map or list.
var atomic = []string{
	"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef", "secretRef", "nodePublishSecretRef",
	"selector", "labelSelector", "dataSource",
}

// keyed are the lists of a pod with items that managed fields identify by keys.
var keyed = []string{"initContainers", "containers", "volumes", "env", "ports", "volumeMounts", "volumeDevices", "claims", pullSecrets}

// extractOwnedFields returns the live values of the fields that a managed-fields map in FieldsV1 notation lists. In this
// notation, "f:name" is a field, "k:{…}" a list item with its keys, and "v:…" an item of a set. "." is the
// value itself, and an empty map is a whole value.
func extractOwnedFields(key string, fields map[string]any, live any) any {
	if len(fields) == 0 {
		switch live.(type) {
		case map[string]any:
			if !slices.Contains(atomic, key) {
				return map[string]any{}
			}
		case []any:
			if slices.Contains(keyed, key) {
				return []any{}
			}
		}
		return live
	}
	switch value := live.(type) {
	case map[string]any:
		result := map[string]any{}
		for field, children := range fields {
			name, ok := strings.CutPrefix(field, "f:")
			if !ok {
				continue
			}
			if item, ok := value[name]; ok {
				result[name] = extractOwnedFields(name, tree.Map(children), item)
			}
		}
		return result
	case []any:
		return extractOwnedItems(key, fields, value)
	default:
		return live
	}
}

// extractOwnedItems returns the items of a live list that managed fields list, in the order of the live list. Items
// of imagePullSecrets are returned whole.
func extractOwnedItems(list string, fields map[string]any, live []any) []any {
	type item struct{ keys, fields map[string]any }
	var items []item
	var members []string
	for field, children := range fields {
		if text, ok := strings.CutPrefix(field, "k:"); ok {
			var keys map[string]any
			if json.Unmarshal([]byte(text), &keys) == nil {
				items = append(items, item{keys, tree.Map(children)})
			}
		} else if text, ok := strings.CutPrefix(field, "v:"); ok {
			members = append(members, text)
		}
	}
	result := []any{}
	for _, candidate := range live {
		object, isMap := candidate.(map[string]any)
		if !isMap {
			if slices.Contains(members, jsonText(candidate)) {
				result = append(result, candidate)
			}
			continue
		}
		for _, entry := range items {
			if !hasKeys(object, entry.keys) {
				continue
			}
			if list == pullSecrets {
				result = append(result, object)
			} else {
				result = append(result, extractOwnedFields("", entry.fields, object))
			}
			break
		}
	}
	return result
}

// hasKeys reports whether an object contains all given keys with the given values.
func hasKeys(object, keys map[string]any) bool {
	for key, value := range keys {
		if jsonText(object[key]) != jsonText(value) {
			return false
		}
	}
	return true
}
