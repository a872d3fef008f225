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

// Operation is an operation of a JSON patch.
type Operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Patched returns a live workload after the plan's patch, for callers that must merge the patch themselves.
// Maps and lists that become empty are removed. The argument is not changed.
func (p *Plan) Patched(live map[string]any) (map[string]any, error) {
	kind := p.Target.Adapter()
	patched, err := strategicpatch.StrategicMergeMapPatch(runtime.DeepCopyJSON(live), runtime.DeepCopyJSON(kind.MoveTemplate(p.Patch)), kind.MergeKeys())
	if err != nil {
		return nil, fmt.Errorf("patching: %w", err)
	}
	withoutEmptied(live, patched)
	return patched, nil
}

// withoutEmptied removes maps and lists that have become empty from a map.
func withoutEmptied(before, after map[string]any) {
	for key, was := range before {
		if is := tree.Map(after[key]); is != nil {
			withoutEmptied(tree.Map(was), is)
		}
		if size(was) > 0 && after[key] != nil && size(after[key]) == 0 {
			delete(after, key)
			continue
		}
		for _, item := range tree.List(after[key]) {
			at := slices.IndexFunc(tree.List(was), func(other any) bool { return tree.Name(other) != "" && tree.Name(other) == tree.Name(item) })
			if at >= 0 {
				withoutEmptied(tree.Map(tree.List(was)[at]), tree.Map(item))
			}
		}
	}
}

// size returns the number of items in a map or a list, or -1 for other values.
func size(value any) int {
	switch of := value.(type) {
	case map[string]any:
		return len(of)
	case []any:
		return len(of)
	}
	return -1
}

// Operations returns the plan's patch as a JSON patch, for kinds with atomic lists. The patch applies to the
// workload as read. It tests each item before it changes or removes it.
func (p *Plan) Operations(live map[string]any) ([]Operation, error) {
	patched, err := p.Patched(live)
	if err != nil {
		return nil, err
	}
	found := &operations{}
	found.test("/metadata/uid", string(p.Target.UID))
	found.test("/metadata/resourceVersion", p.ResourceVersion)
	found.betweenMaps("", live, patched)
	return found.list, nil
}

// operations collects the operations that change one tree to another.
type operations struct{ list []Operation }

func (o *operations) add(op, path string, value any) {
	o.list = append(o.list, Operation{op, path, value})
}

func (o *operations) test(path string, value any) { o.add("test", path, value) }

func (o *operations) between(key, path string, before, after any) {
	was, wasMap := before.(map[string]any)
	is, isMap := after.(map[string]any)
	switch {
	case sameJSON(before, after):
	case wasMap && isMap:
		o.betweenMaps(path, was, is)
	case workload.IsKeyedList(key) && o.betweenLists(key, path, tree.List(before), tree.List(after)):
	default:
		o.test(path, before)
		o.add("replace", path, after)
	}
}

func (o *operations) betweenMaps(path string, before, after map[string]any) {
	for _, key := range slices.Sorted(maps.Keys(before)) {
		at := path + "/" + pointer(key)
		if is, isThere := after[key]; isThere {
			o.between(key, at, before[key], is)
			continue
		}
		o.test(at, before[key])
		o.add("remove", at, nil)
	}
	for _, key := range slices.Sorted(maps.Keys(after)) {
		if _, wasThere := before[key]; !wasThere {
			o.add("add", path+"/"+pointer(key), after[key])
		}
	}
}

// betweenLists removes, adds and changes items one by one. It returns false, and adds no operation, if the
// remaining items change their order or if keys are not unique.
func (o *operations) betweenLists(list, path string, before, after []any) bool {
	was, is := workload.ItemKeys(list, before), workload.ItemKeys(list, after)
	stays := func(key string) bool { return slices.Contains(is, key) }
	kept := slices.DeleteFunc(slices.Clone(was), func(key string) bool { return !stays(key) })
	again := slices.DeleteFunc(slices.Clone(is), func(key string) bool { return !slices.Contains(was, key) })
	if hasTwice(was) || hasTwice(is) || !slices.Equal(kept, again) {
		return false
	}
	for i := len(before) - 1; i >= 0; i-- {
		if at := path + "/" + strconv.Itoa(i); !stays(was[i]) {
			o.test(at, before[i])
			o.add("remove", at, nil)
		}
	}
	for i, item := range after {
		at := path + "/" + strconv.Itoa(i)
		if from := slices.Index(was, is[i]); from >= 0 {
			o.changeItem(at, before[from], item)
			continue
		}
		o.add("add", at, item)
	}
	return true
}

// changeItem changes fields of an item. It first tests that the item is the item that was read.
func (o *operations) changeItem(path string, before, after any) {
	if name := tree.Name(before); name != "" && !sameJSON(before, after) {
		o.test(path+"/name", name)
	}
	o.between("", path, before, after)
}

func hasTwice(keys []string) bool {
	sorted := slices.Sorted(slices.Values(keys))
	return len(slices.Compact(sorted)) < len(keys)
}

// pointer escapes a key for the path of an operation.
func pointer(key string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(key) }

// sameJSON compares values that may contain numbers of different types.
func sameJSON(a, b any) bool {
	one, _ := json.Marshal(a) // Both were read from JSON.
	other, _ := json.Marshal(b)
	return string(one) == string(other)
}
