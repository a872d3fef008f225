// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package store holds values that can be made anew, up to so many bytes. It makes none,
// and knows of no time.
package store

import "iter"

// Store holds values by key. It is for one goroutine at a time. The value that came last is
// held whatever it takes. Make one with New.
type Store[V any] struct {
	held        map[string]holding[V]
	bytes, most int
}

// holding is a value and what it takes.
type holding[V any] struct {
	value V
	bytes int
}

// perHolding is what one takes beside its key and value.
const perHolding = 128

// New returns an empty Store for so many bytes.
func New[V any](most int) *Store[V] { return &Store[V]{held: map[string]holding[V]{}, most: most} }

// Get returns what is held for a key, else the zero value.
func (s *Store[V]) Get(key []byte) V { return s.held[string(key)].value }

// Put holds a value, which takes so many bytes, and drops others until there is room: any
// of them.
func (s *Store[V]) Put(key string, value V, bytes int) {
	s.Drop(key)
	bytes += len(key) + perHolding
	for other := range s.held {
		if s.bytes+bytes <= s.most {
			break
		}
		s.Drop(other)
	}
	s.held[key] = holding[V]{value, bytes}
	s.bytes += bytes
}

// Drop lets go of what is held for a key.
func (s *Store[V]) Drop(key string) {
	s.bytes -= s.held[key].bytes
	delete(s.held, key)
}

// Len is how many values are held.
func (s *Store[V]) Len() int { return len(s.held) }

// Bytes is what all values take.
func (s *Store[V]) Bytes() int { return s.bytes }

// Adopt holds all that another Store does.
func (s *Store[V]) Adopt(other *Store[V]) {
	for key, one := range other.held {
		s.Put(key, one.value, one.bytes-len(key)-perHolding)
	}
}

// All goes through the values, by their keys.
func (s *Store[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for key, one := range s.held {
			if !yield(key, one.value) {
				return
			}
		}
	}
}
