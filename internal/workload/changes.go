// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Changes lists the differences between a manager's live fields and the fields to apply, such as
// "initContainers[vector].image a:1 → a:2". Both bodies have the form {spec: {template}}. It shows only values of
// fields that define how a container runs, because variables and arguments may contain secrets.
func Changes(oldBody, newBody map[string]any) []string {
	var changes []string
	oldTemplate, newTemplate := tree.MapAt(oldBody, "spec", "template"), tree.MapAt(newBody, "spec", "template")
	for _, metadata := range []string{"labels", "annotations"} {
		oldKeys, newKeys := tree.MapAt(oldTemplate, "metadata")[metadata], tree.MapAt(newTemplate, "metadata")[metadata]
		changes = append(changes, listValueChanges(metadata, "", withoutOperatorKeys(oldKeys), withoutOperatorKeys(newKeys))...)
	}
	pod := tree.Pod[len(tree.Pod)-1]
	return append(changes, listValueChanges("", "", normalizeValue("", orEmpty(oldTemplate[pod])), normalizeValue("", orEmpty(newTemplate[pod])))...)
}

// withoutOperatorKeys returns labels or annotations without the operator's keys.
func withoutOperatorKeys(value any) map[string]any {
	result := maps.Clone(tree.Map(value))
	maps.DeleteFunc(result, func(key string, _ any) bool { return strings.HasPrefix(key, meta.Group+"/") })
	return orEmpty(result)
}

// orEmpty returns a value as a map, or an empty map if the value is not a map.
func orEmpty(value any) map[string]any {
	if fields := tree.Map(value); fields != nil {
		return fields
	}
	return map[string]any{}
}

// listValueChanges lists the differences between two values at a path. field is the last field of the path. A nil value
// means that the field does not exist.
func listValueChanges(path, field string, before, after any) []string {
	oldMap, wasMap := before.(map[string]any)
	newMap, isMap := after.(map[string]any)
	switch {
	case wasMap && isMap:
		return listChanges(oldMap, newMap, func(key string) (string, string) { return joinPath(path, key), key })
	case isKeyed(field, before) && isKeyed(field, after):
		return listChanges(itemsByKey(field, before), itemsByKey(field, after), func(key string) (string, string) { return path + "[" + key + "]", field })
	case jsonText(before) == jsonText(after):
		return nil
	case after == nil:
		return []string{path + " removed"}
	case before == nil && (isMap || isKeyed(field, after)):
		return []string{path + " added"}
	case !isShown(field, after) || before != nil && !isShown(field, before):
		return []string{path}
	case before == nil:
		return []string{fmt.Sprintf("%s → %v", path, after)}
	}
	return []string{fmt.Sprintf("%s %v → %v", path, before, after)}
}

// listChanges lists the differences between the values of two maps, sorted by key. locate returns the path of a key.
func listChanges(before, after map[string]any, locate func(key string) (path, field string)) []string {
	keys := slices.Collect(maps.Keys(before))
	for key := range after {
		if _, isThere := before[key]; !isThere {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	var changes []string
	for _, key := range keys {
		path, field := locate(key)
		changes = append(changes, listValueChanges(path, field, before[key], after[key])...)
	}
	return changes
}

// joinPath returns a path with a key appended.
func joinPath(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// itemKeys are the merge keys of the lists of a pod.
var itemKeys = map[string]string{
	"initContainers": "name", "containers": "name", "volumes": "name", "env": "name", "ports": "containerPort", "volumeMounts": "mountPath",
	pullSecrets: "name",
}

// isKeyed reports whether a field is a list with a merge key. value must be a list or nil.
func isKeyed(field string, value any) bool {
	_, isList := value.([]any)
	return itemKeys[field] != "" && (isList || value == nil)
}

// itemsByKey returns the items of a list by their merge keys.
func itemsByKey(field string, list any) map[string]any {
	items := map[string]any{}
	for _, item := range tree.List(list) {
		items[itemKey(field, item)] = item
	}
	return items
}

// shown are the fields with string values that Changes shows.
var shown = []string{"image", "imagePullPolicy", "restartPolicy", "cpu", "memory", "ephemeral-storage", "sizeLimit"}

// isShown reports whether Changes shows the value of a field. It always shows numbers and booleans.
func isShown(field string, value any) bool {
	switch value.(type) {
	case map[string]any, []any:
		return false
	case string:
		return slices.Contains(shown, field)
	}
	return true
}

// IsKeyedList reports whether a field of a pod is a list with a merge key.
func IsKeyedList(field string) bool { return itemKeys[field] != "" }

// ItemKeys returns the merge key of each item of a list as text. The key of a port that does not use TCP also contains
// the protocol.
func ItemKeys(field string, list []any) []string {
	keys := make([]string, len(list))
	for i, item := range list {
		keys[i] = itemKey(field, item)
	}
	return keys
}

// itemKey returns the merge key of a list item as text. The key of a port that does not use TCP also contains the
// protocol.
func itemKey(field string, item any) string {
	key := fmt.Sprint(tree.Map(item)[itemKeys[field]])
	if protocol, _ := tree.Map(item)["protocol"].(string); field == "ports" && protocol != "" && protocol != string(corev1.ProtocolTCP) {
		key += "/" + protocol
	}
	return key
}
