// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// TrimEntry returns the fields of a managedFields entry that a manager of the operator must still own after a complete
// write, or nil for none. isLess reports whether it has removed fields. The operator releases a field by removing it
// from managedFields, because an apply without the field would delete a field without other owners.
//
// From an apply entry, TrimEntry removes the names that order the application's init containers. From a patch entry, it
// keeps only the mounts in the application's containers, because all other fields have also been applied. If the patch
// entry stayed, a later apply could not remove these fields, and the application owner could not remove the maps and
// lists that the patch has created.
func TrimEntry(entry *metav1.ManagedFieldsEntry) (remaining *metav1.FieldsV1, isLess bool) {
	if !isOperatorEntry(entry) {
		return entry.FieldsV1, false
	}
	if !isOperatorPatch(entry) && !mayContainNameOnlyItems(entry) {
		return entry.FieldsV1, false
	}
	fields, path := decodeFields(entry)
	trimmed, _ := withoutNameOnlyItems(fields)
	if isOperatorPatch(entry) {
		trimmed = mountFields(fields)
	}
	if reflect.DeepEqual(fields, trimmed) {
		return entry.FieldsV1, false
	}
	if len(trimmed) == 0 {
		return nil, true
	}
	text, _ := json.Marshal(lowerTemplate(trimmed, path)) // The value was decoded from JSON.
	return metav1.NewFieldsV1(string(text)), true
}

// mayContainNameOnlyItems reports whether managed fields may contain an item of which only the name is owned, such as
// `k:{"name":"app"}`. It searches the text for this form, which the API server always writes. Almost no write has such
// an item, and decoding the fields for every write took a tenth of the CPU time of a rollout over many workloads.
func mayContainNameOnlyItems(entry *metav1.ManagedFieldsEntry) bool {
	text := entry.FieldsV1.GetRawBytes()
	return bytes.Contains(text, []byte(`}":{".":{},"f:name":{}}`)) || bytes.Contains(text, []byte(`}":{"f:name":{}}`))
}

// decodeFields returns the managed fields of an entry in the form of liftTemplate, and the original path of the
// template. Both are nil if the fields cannot be parsed; the next apply then replaces them.
func decodeFields(entry *metav1.ManagedFieldsEntry) (fields map[string]any, path []string) {
	if entry.FieldsV1 == nil {
		return nil, nil
	}
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
		return nil, nil
	}
	return liftTemplate(fields)
}

// withoutNameOnlyItems returns managed fields without the pod's list items of which only the name is owned, because
// these items belong to other managers. hasNames reports whether there are such items.
func withoutNameOnlyItems(fields map[string]any) (trimmed map[string]any, hasNames bool) {
	trimmed = eachPodItem(fields, func(_ string, item map[string]any) any {
		if isNameOnly(item) {
			hasNames = true
			return nil
		}
		return item
	})
	return trimmed, hasNames
}

// patchedFields returns the managed fields of a patch without the application's containers, to which the patch has only
// added mounts.
func patchedFields(fields map[string]any) map[string]any {
	return eachPodItem(fields, func(list string, item map[string]any) any {
		if list == pullSecrets { // An item is one value without fields.
			return item
		}
		if list != "volumes" && !isItemOwned(item) || isNameOnly(item) {
			return nil
		}
		return item
	})
}

// mountFields returns the managed fields of a patch with only the mounts in the application's containers.
func mountFields(fields map[string]any) map[string]any {
	mounts := map[string]any{}
	for key, item := range tree.Map(podFields(fields)["f:containers"]) {
		if _, isItem := itemName(key); !isItem || isItemOwned(tree.Map(item)) {
			continue
		}
		result := map[string]any{}
		for mount, value := range tree.Map(tree.Map(item)["f:volumeMounts"]) {
			if strings.HasPrefix(mount, "k:") {
				result[mount] = value
			}
		}
		if len(result) > 0 {
			tree.EnsureMap(mounts, append(slices.Clone(podPath), "f:containers", key)...)["f:volumeMounts"] = result
		}
	}
	return mounts
}

// eachPodItem returns a copy of managed fields in which change has replaced each item of the pod's lists. An item is
// removed if change returns nil.
func eachPodItem(fields map[string]any, change func(list string, item map[string]any) any) map[string]any {
	pod := podFields(fields)
	if pod == nil {
		return fields
	}
	changed := maps.Clone(pod)
	for _, list := range podLists {
		items := tree.Map(pod["f:"+list])
		if items == nil {
			continue
		}
		changedItems := maps.Clone(items)
		for key, item := range items {
			if _, isItem := itemName(key); !isItem {
				continue
			}
			if replacement := change(list, tree.Map(item)); replacement != nil {
				changedItems[key] = replacement
			} else {
				delete(changedItems, key)
			}
		}
		if len(changedItems) == 0 && len(items) > 0 {
			delete(changed, "f:"+list)
			continue
		}
		changed["f:"+list] = changedItems
	}
	return withPodFields(fields, changed)
}

// withPodFields returns a copy of managed fields with new fields below spec.template.spec.
func withPodFields(fields, pod map[string]any) map[string]any {
	for i := len(podPath); i > 0; i-- {
		parent := maps.Clone(tree.MapAt(fields, podPath[:i-1]...))
		parent[podPath[i-1]] = pod
		if len(pod) == 0 {
			delete(parent, podPath[i-1])
		}
		pod = parent
	}
	return pod
}

// isNameOnly reports whether managed fields of an item contain only its name.
func isNameOnly(item map[string]any) bool {
	for field := range item {
		if field != "." && field != "f:name" {
			return false
		}
	}
	return len(item) > 0
}

// isItemOwned reports whether managed fields of an item contain the item itself, and not only its fields.
func isItemOwned(item map[string]any) bool {
	_, ok := item["."]
	return ok
}

// mergeFields returns the union of two sets of managed fields.
func mergeFields(a, b map[string]any) map[string]any {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	merged := maps.Clone(a)
	for field, children := range b {
		if existing, ok := a[field]; ok {
			merged[field] = mergeFields(tree.Map(existing), tree.Map(children))
			continue
		}
		merged[field] = children
	}
	return merged
}
