// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Operation is one operation of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// ApplyPatch returns a copy of a live workload with the plan's patch. It is for callers that do not send the patch to
// the API server. It removes maps and lists that the patch has emptied.
func (p *Plan) ApplyPatch(live map[string]any) (map[string]any, error) {
	kind := p.Target.Adapter()
	patched, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(live), runtime.DeepCopyJSON(kind.MoveTemplate(p.Write.Patch)), kind.MergeKeys())
	if err != nil {
		return nil, fmt.Errorf("applying the plan's patch to a copy of the workload: %w", err)
	}
	removeEmptied(live, patched)
	return patched, nil
}

// removeEmptied removes the maps and lists from patched that are empty there but not in original.
func removeEmptied(original, patched map[string]any) {
	for key, originalValue := range original {
		if patchedMap := tree.Map(patched[key]); patchedMap != nil {
			removeEmptied(tree.Map(originalValue), patchedMap)
		}
		if itemCount(originalValue) > 0 && patched[key] != nil && itemCount(patched[key]) == 0 {
			delete(patched, key)
			continue
		}
		for _, item := range tree.List(patched[key]) {
			i := slices.IndexFunc(tree.List(originalValue), func(candidate any) bool { return tree.Name(candidate) != "" && tree.Name(candidate) == tree.Name(item) })
			if i >= 0 {
				removeEmptied(tree.Map(tree.List(originalValue)[i]), tree.Map(item))
			}
		}
	}
}

// itemCount returns the number of items in a map or a list, or -1 for another value.
func itemCount(value any) int {
	switch collection := value.(type) {
	case map[string]any:
		return len(collection)
	case []any:
		return len(collection)
	}
	return -1
}

// Operations returns the plan's patch as a JSON patch, for kinds with atomic lists. The JSON patch fails unless the
// workload has the version that was read. It tests the value of each item before it changes or removes the item.
func (p *Plan) Operations(live map[string]any) ([]Operation, error) {
	patched, err := p.ApplyPatch(live)
	if err != nil {
		return nil, err
	}
	ops := &operations{}
	ops.test("/metadata/uid", string(p.Target.UID))
	ops.test("/metadata/resourceVersion", p.Workload.ResourceVersion)
	ops.diffMaps("", live, patched)
	return ops.list, nil
}

// operations collects JSON patch operations that change one tree into another.
type operations struct{ list []Operation }

func (o *operations) add(op, path string, value any) {
	o.list = append(o.list, Operation{op, path, value})
}

func (o *operations) test(path string, value any) { o.add("test", path, value) }

func (o *operations) diff(key, path string, before, after any) {
	oldMap, wasMap := before.(map[string]any)
	newMap, isMap := after.(map[string]any)
	switch {
	case equalJSON(before, after):
	case wasMap && isMap:
		o.diffMaps(path, oldMap, newMap)
	case workload.IsKeyedList(key) && o.diffLists(key, path, tree.List(before), tree.List(after)):
	default:
		o.test(path, before)
		o.add("replace", path, after)
	}
}

func (o *operations) diffMaps(path string, before, after map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		fieldPath := path + "/" + escapePointer(key)
		if value, exists := after[key]; exists {
			o.diff(key, fieldPath, before[key], value)
			continue
		}
		o.test(fieldPath, before[key])
		o.add("remove", fieldPath, nil)
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[key]; !ok {
			o.add("add", path+"/"+escapePointer(key), after[key])
		}
	}
}

// diffLists adds operations that remove, add and change single items of a list. It returns false, without any
// operations, if items have moved or keys are not unique.
func (o *operations) diffLists(list, path string, before, after []any) bool {
	oldKeys, newKeys := workload.ItemKeys(list, before), workload.ItemKeys(list, after)
	stays := func(key string) bool { return slices.Contains(newKeys, key) }
	commonOld := slices.DeleteFunc(slices.Clone(oldKeys), func(key string) bool { return !stays(key) })
	commonNew := slices.DeleteFunc(slices.Clone(newKeys), func(key string) bool { return !slices.Contains(oldKeys, key) })
	if hasDuplicates(oldKeys) || hasDuplicates(newKeys) || !slices.Equal(commonOld, commonNew) {
		return false
	}
	for i := len(before) - 1; i >= 0; i-- {
		if itemPath := path + "/" + strconv.Itoa(i); !stays(oldKeys[i]) {
			o.test(itemPath, before[i])
			o.add("remove", itemPath, nil)
		}
	}
	for i, item := range after {
		itemPath := path + "/" + strconv.Itoa(i)
		if oldIndex := slices.Index(oldKeys, newKeys[i]); oldIndex >= 0 {
			o.changeItem(itemPath, before[oldIndex], item)
			continue
		}
		o.add("add", itemPath, item)
	}
	return true
}

// changeItem adds operations that change the fields of a list item. The first operation tests the name of the item,
// because another client may have moved items.
func (o *operations) changeItem(path string, before, after any) {
	if name := tree.Name(before); name != "" && !equalJSON(before, after) {
		o.test(path+"/name", name)
	}
	o.diff("", path, before, after)
}

// hasDuplicates reports whether a key occurs more than once.
func hasDuplicates(keys []string) bool {
	sorted := slices.Sorted(slices.Values(keys))
	return len(slices.Compact(sorted)) < len(keys)
}

// escapePointer escapes a key for the path of a JSON patch operation.
func escapePointer(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// equalJSON reports whether two values have the same JSON. It compares the JSON because numbers may have different Go
// types.
func equalJSON(a, b any) bool {
	textA, _ := json.Marshal(a) // Both were read from JSON.
	textB, _ := json.Marshal(b)
	return string(textA) == string(textB)
}
