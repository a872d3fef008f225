// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// isOperatorEntry reports whether a managedFields entry belongs to a field manager of the operator.
func isOperatorEntry(entry *metav1.ManagedFieldsEntry) bool {
	return isOperatorApply(entry) || isOperatorPatch(entry)
}

// isOperatorApply reports whether an entry records a server-side apply by a field manager of the operator.
func isOperatorApply(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Operation == metav1.ManagedFieldsOperationApply && entry.Subresource == "" &&
		entry.FieldsV1 != nil && meta.IsManager(entry.Manager)
}

// isOperatorPatch reports whether an entry records a patch by a field manager of the operator.
func isOperatorPatch(entry *metav1.ManagedFieldsEntry) bool {
	return entry.Operation == metav1.ManagedFieldsOperationUpdate && entry.Subresource == "" && meta.IsManager(entry.Manager)
}

// lastWriter returns the field manager that last wrote the object, or "" for none. Writes by the operator and writes of
// subresources, such as the status, do not count.
func lastWriter(entries []metav1.ManagedFieldsEntry) string {
	if entry := lastEntry(entries); entry != nil {
		return entry.Manager
	}
	return ""
}

// lastEntry returns the newest managedFields entry, or nil for none. Entries of the operator and of subresources do not
// count.
func lastEntry(entries []metav1.ManagedFieldsEntry) *metav1.ManagedFieldsEntry {
	var last *metav1.ManagedFieldsEntry
	for i := range entries {
		entry := &entries[i]
		if entry.Subresource != "" || meta.IsManager(entry.Manager) || entry.Time == nil {
			continue
		}
		if last == nil || !entry.Time.Before(last.Time) {
			last = entry
		}
	}
	return last
}
