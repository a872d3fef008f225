// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "iter"

// Store caches values by key, for values that can be computed again. Values do not expire. The latest value is stored
// independent of its size. It is not safe for concurrent use. Use NewStore.
type Store[V any] struct {
	entries         map[string]storeEntry[V]
	bytes, maxBytes int
}

// storeEntry is a value and its size.
type storeEntry[V any] struct {
	value V
	bytes int
}

// entryOverhead is the overhead of an entry in bytes.
const entryOverhead = 128

// NewStore returns an empty Store for at most so many bytes.
func NewStore[V any](maxBytes int) *Store[V] {
	return &Store[V]{entries: map[string]storeEntry[V]{}, maxBytes: maxBytes}
}

// Get returns the value of a key, or the zero value.
func (s *Store[V]) Get(key []byte) V { return s.entries[string(key)].value }

// Put stores a value of a size in bytes. Before that, it drops arbitrary other values until the value fits.
func (s *Store[V]) Put(key string, value V, bytes int) {
	s.Drop(key)
	bytes += len(key) + entryOverhead
	for storedKey := range s.entries {
		if s.bytes+bytes <= s.maxBytes {
			break
		}
		s.Drop(storedKey)
	}
	s.entries[key] = storeEntry[V]{value, bytes}
	s.bytes += bytes
}

// Drop removes the value of a key.
func (s *Store[V]) Drop(key string) {
	s.bytes -= s.entries[key].bytes
	delete(s.entries, key)
}

// Len returns the number of values.
func (s *Store[V]) Len() int { return len(s.entries) }

// Bytes returns the size of all values.
func (s *Store[V]) Bytes() int { return s.bytes }

// Adopt adds all values of another Store.
func (s *Store[V]) Adopt(source *Store[V]) {
	for key, entry := range source.entries {
		s.Put(key, entry.value, entry.bytes-len(key)-entryOverhead)
	}
}

// All iterates over the keys and values.
func (s *Store[V]) All() iter.Seq2[string, V] {
	return func(yield func(string, V) bool) {
		for key, entry := range s.entries {
			if !yield(key, entry.value) {
				return
			}
		}
	}
}
