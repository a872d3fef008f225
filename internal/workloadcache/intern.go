// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"runtime"
	"sync"
	"unique"
	"weak"
)

// interned stores each value once, while it is referenced.
type interned[K comparable, V any] struct {
	mu     sync.Mutex
	values map[K]weak.Pointer[V]
}

func newInterned[K comparable, V any]() *interned[K, V] {
	return &interned[K, V]{values: map[K]weak.Pointer[V]{}}
}

// get returns the value of a key, or nil if the value does not exist anymore.
func (s *interned[K, V]) get(key K) *V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.values[key].Value()
}

// getOrCreate returns the value of a key, and makes it if it does not exist anymore.
func (s *interned[K, V]) getOrCreate(key K, fresh func() *V) *V {
	s.mu.Lock()
	defer s.mu.Unlock()
	if existing := s.values[key].Value(); existing != nil {
		return existing
	}
	created := fresh()
	s.values[key] = weak.Make(created)
	runtime.AddCleanup(created, s.forget, key)
	return created
}

// forget removes a key, unless its value was made again since.
func (s *interned[K, V]) forget(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values[key].Value() == nil {
		delete(s.values, key)
	}
}

// shareStrings replaces the strings that workloads have in common by one copy of each: the namespace, the keys of
// labels, and label values that are the name of the workload.
func (r *Record) shareStrings() {
	r.Namespace = unique.Make(r.Namespace).Value()
	if len(r.object.Labels) == 0 {
		return
	}
	labels := make(map[string]string, len(r.object.Labels))
	for key, value := range r.object.Labels {
		if value == r.Name {
			value = r.Name
		}
		labels[unique.Make(key).Value()] = value
	}
	r.object.Labels = labels
}
