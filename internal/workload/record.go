// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// record contains the managedFields of one of the operator's managers.
type record struct {
	// applied and patched are the fields that the manager has applied and patched, without the application's
	// containers, and without items of which the manager owns only the name. A map is nil if the manager has no such
	// entry.
	applied, patched map[string]any
	// hasNames is true if the manager owns only the name of some items that it has applied. isPatch is true if the
	// manager has patched the workload, and isLoose if it has patched more than mounts in the application's containers.
	hasNames, isPatch, isLoose bool
}

// readRecords returns the managedFields of each of the operator's managers in a workload. Callers do not keep the
// result, because the decoded fields of one sidecar take 30 KiB.
func readRecords(object Object) map[string]*record {
	records := map[string]*record{}
	entries := object.GetManagedFields()
	for i := range entries {
		entry := &entries[i]
		if !isOperatorEntry(entry) {
			continue
		}
		if records[entry.Manager] == nil {
			records[entry.Manager] = &record{}
		}
		records[entry.Manager].addEntry(entry)
	}
	return records
}

// entryKinds are the kinds of the managedFields entries of a manager.
type entryKinds struct{ isApply, isPatch bool }

// addEntry adds a managedFields entry of the manager.
func (r *record) addEntry(entry *metav1.ManagedFieldsEntry) {
	r.isPatch = r.isPatch || isOperatorPatch(entry)
	fields, _ := decodeFields(entry)
	if fields == nil {
		return
	}
	if isOperatorApply(entry) {
		r.applied, r.hasNames = withoutNameOnlyItems(fields)
		return
	}
	r.patched = patchedFields(fields)
	_, r.isLoose = TrimEntry(entry)
}

// ownedItems returns the fields that the manager owns according to its managedFields entries.
func (r *record) ownedItems(manager string, live map[string]any, deployers *deployed) OwnedFields {
	result := OwnedFields{Named: r.hasNames, Patched: r.isLoose || r.applied == nil}
	var applied map[string]any
	if r.applied != nil {
		applied = tree.Map(extractOwnedFields("", r.applied, live))
		result.Hash = Hash(applied)
		_, result.Waits = tree.MapAt(r.applied, "f:metadata", "f:annotations")["f:"+meta.AnnotationWaiting(manager)]
		result.WrittenBy, _ = tree.MapAt(applied, "metadata", "annotations")[meta.AnnotationWrittenBy(manager)].(string)
	}
	combined := applied
	if result.Patched {
		combined = tree.Map(extractOwnedFields("", mergeFields(r.applied, r.patched), live))
		result.Leftovers = missingItems(combined, applied)
	}
	result.Unfinished = result.Named || result.Patched
	result.setTree(combined, deployers)
	return result
}

// missingItems returns the names of the list items in the pod of fullTree that are not in the pod of partialTree.
func missingItems(fullTree, partialTree map[string]any) []string {
	var names []string
	for _, list := range podLists {
		for _, item := range tree.List(tree.MapAt(fullTree, tree.Pod...)[list]) {
			isSame := func(candidate any) bool { return tree.Name(candidate) == tree.Name(item) }
			if !slices.ContainsFunc(tree.List(tree.MapAt(partialTree, tree.Pod...)[list]), isSame) {
				names = append(names, tree.Name(item))
			}
		}
	}
	return names
}
