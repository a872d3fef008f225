// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package meta

import (
	"encoding/json"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// FieldWrite is the last recorded write of a field manager that owns a field. The field itself may be older,
// because the time is the time of the manager's last change of any field.
type FieldWrite struct {
	Manager string
	Time    time.Time
}

// AnnotationWrite returns the last write of the field manager that owns an annotation. If several managers own it,
// the result is the latest write. The result is empty if managedFields have no owner of it.
func AnnotationWrite(object metav1.Object, key string) FieldWrite {
	last := FieldWrite{}
	for _, entry := range object.GetManagedFields() {
		if ownsAnnotation(&entry, key) && (last.Manager == "" || entryTime(&entry).After(last.Time)) {
			last = FieldWrite{entry.Manager, entryTime(&entry)}
		}
	}
	return last
}

// LastWrite returns the time of the last recorded write of an object, including its creation. It returns zero
// if no time is recorded.
func LastWrite(object metav1.Object) time.Time {
	last := object.GetCreationTimestamp().Time
	for _, entry := range object.GetManagedFields() {
		if written := entryTime(&entry); written.After(last) {
			last = written
		}
	}
	return last
}

// entryTime returns the time of a managedFields entry, or zero if the entry has none.
func entryTime(entry *metav1.ManagedFieldsEntry) time.Time {
	if entry.Time == nil {
		return time.Time{}
	}
	return entry.Time.Time
}

// SpecManagers returns the field managers that own fields of the spec of an object, without the fields that applier
// owns by server-side apply.
func SpecManagers(object metav1.Object, applier string) (managers []string) {
	for _, entry := range object.GetManagedFields() {
		isApplier := entry.Manager == applier && entry.Operation == metav1.ManagedFieldsOperationApply
		if isApplier || entry.FieldsV1 == nil || entry.Subresource != "" {
			continue
		}
		var fields struct {
			Spec json.RawMessage `json:"f:spec"`
		}
		if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) == nil && len(fields.Spec) > 0 {
			managers = append(managers, entry.Manager)
		}
	}
	return managers
}

// ownsAnnotation reports whether a managedFields entry contains an annotation.
func ownsAnnotation(entry *metav1.ManagedFieldsEntry, key string) bool {
	if entry.FieldsV1 == nil || entry.Subresource != "" {
		return false
	}
	var fields struct {
		Metadata struct {
			Annotations map[string]json.RawMessage `json:"f:annotations"`
		} `json:"f:metadata"`
	}
	if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil { // The API server writes valid JSON.
		return false
	}
	_, ok := fields.Metadata.Annotations["f:"+key]
	return ok
}
