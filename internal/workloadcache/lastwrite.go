// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// LastWrite is the value that the operator last wrote to an object. It replaces the value of a read from the cache until
// the cache shows a later version, because the cache may lag behind the API server. The zero value has no write. It is
// not safe for concurrent use.
type LastWrite[T any] struct {
	// Value is the written value, nil if there is none.
	Value *T

	uid     types.UID
	version string
}

// Set records a value with the object that the API server returned for the write. The caller must not change the value.
func (w *LastWrite[T]) Set(object metav1.Object, value *T) {
	w.Value, w.uid, w.version = value, object.GetUID(), object.GetResourceVersion()
}

// Get returns the written value. It returns false if a read object has a later version or is another object. The caller
// must not change the value.
func (w *LastWrite[T]) Get(read metav1.Object) (*T, bool) {
	if w.Value == nil || w.uid != read.GetUID() || IsOlder(w.version, read.GetResourceVersion()) {
		w.Value = nil
		return nil, false
	}
	return w.Value, true
}
