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
	mu    sync.Mutex
	known map[K]weak.Pointer[V]
}

func newInterned[K comparable, V any]() *interned[K, V] {
	return &interned[K, V]{known: map[K]weak.Pointer[V]{}}
}

// get returns the value of a key, or nil if the value does not exist anymore.
func (s *interned[K, V]) get(key K) *V {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[key].Value()
}

// of returns the value of a key, and makes it if it does not exist anymore.
func (s *interned[K, V]) of(key K, fresh func() *V) *V {
	s.mu.Lock()
	defer s.mu.Unlock()
	if before := s.known[key].Value(); before != nil {
		return before
	}
	made := fresh()
	s.known[key] = weak.Make(made)
	runtime.AddCleanup(made, s.forget, key)
	return made
}

// forget removes a key, unless its value was made again since.
func (s *interned[K, V]) forget(key K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known[key].Value() == nil {
		delete(s.known, key)
	}
}

// one returns the shared copy of a string.
func one(text string) string { return unique.Make(text).Value() }
