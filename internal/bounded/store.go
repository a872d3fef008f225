// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "iter"

// Store caches values by key, for values that can be computed again. Values do not expire. The latest value is stored
// independent of its size. It is not safe for concurrent use. Use NewStore.
type Store[V any] struct {
	held        map[string]holding[V]
	bytes, most int
}

// holding is a value and its size.
type holding[V any] struct {
	value V
	bytes int
}

// perHolding is the overhead of an entry in bytes.
const perHolding = 128

// NewStore returns an empty Store for at most so many bytes.
func NewStore[V any](most int) *Store[V] { return &Store[V]{held: map[string]holding[V]{}, most: most} }

// Get returns the value of a key, or the zero value.
func (s *Store[V]) Get(key []byte) V { return s.held[string(key)].value }

// Put stores a value of a size in bytes. Before that, it drops arbitrary other values until the value fits.
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

// Drop removes the value of a key.
func (s *Store[V]) Drop(key string) {
	s.bytes -= s.held[key].bytes
	delete(s.held, key)
}

// Len returns the number of values.
func (s *Store[V]) Len() int { return len(s.held) }

// Bytes returns the size of all values.
func (s *Store[V]) Bytes() int { return s.bytes }

// Adopt adds all values of another Store.
func (s *Store[V]) Adopt(other *Store[V]) {
	for key, one := range other.held {
		s.Put(key, one.value, one.bytes-len(key)-perHolding)
	}
}

// All iterates over the keys and values.
func (s *Store[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for key, one := range s.held {
			if !yield(key, one.value) {
				return
			}
		}
	}
}
