// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// record holds the managed fields of one manager.
type record struct {
	// applied and patched are the fields it has applied and patched, without items of
	// which it owns only the name and without the application's containers. Each is nil
	// if there is no such entry.
	applied, patched map[string]any
	// hasNames reports whether there are such items, isPatch whether there is a patch
	// entry, and isLoose whether it holds more than mounts in the application's
	// containers.
	hasNames, isPatch, isLoose bool
}

// add adds an entry of the manager.
func (r *record) add(entry *metav1.ManagedFieldsEntry) {
	r.isPatch = r.isPatch || isPatch(entry)
	fields, _ := decodeFields(entry)
	if fields == nil {
		return
	}
	if isApply(entry) {
		r.applied, r.hasNames = ownFields(fields)
		return
	}
	r.patched = patchedFields(fields)
	_, r.isLoose = Trim(entry)
}

// owned returns what the manager owns by its entries.
func (r *record) owned(manager string, live map[string]any, theirs *deployed) Owned {
	of := Owned{Named: r.hasNames, Patched: r.isLoose || r.applied == nil}
	var applied map[string]any
	if r.applied != nil {
		applied = tree.Map(extract("", r.applied, live))
		of.Hash = Hash(applied)
		_, of.Waits = tree.At(r.applied, "f:metadata", "f:annotations")["f:"+meta.AnnotationWaiting(manager)]
		of.WrittenBy, _ = tree.At(applied, "metadata", "annotations")[meta.AnnotationWrittenBy(manager)].(string)
	}
	all := applied
	if of.Patched {
		all = tree.Map(extract("", united(r.applied, r.patched), live))
		of.Leftovers = lessOf(all, applied)
	}
	of.Unfinished = of.Named || of.Patched
	of.read(all, theirs)
	return of
}

// lessOf returns the names of pod list items that one tree has and the other lacks.
func lessOf(all, some map[string]any) []string {
	var names []string
	for _, list := range podLists {
		for _, item := range tree.List(tree.At(all, tree.Pod...)[list]) {
			isSame := func(other any) bool { return tree.Name(other) == tree.Name(item) }
			if !slices.ContainsFunc(tree.List(tree.At(some, tree.Pod...)[list]), isSame) {
				names = append(names, tree.Name(item))
			}
		}
	}
	return names
}
