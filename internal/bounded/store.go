// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import "iter"

// Store caches values that can be computed again, by key. Values do not expire. The newest value is always stored, even
// if it is larger than the limit. It is not safe for concurrent use. NewStore creates it.
type Store[V any] struct {
	entries map[string]*StoreEntry[V]
	// users contains the number of values that use the value of a key.
	users           map[string]int
	bytes, maxBytes int
}

// StoreEntry is a value in a Store.
type StoreEntry[V any] struct {
	Key   string
	Value V
	// Bytes is the size of the value, without the values of Uses.
	Bytes int
	// Uses are the keys of the values to which this value refers. They stay in the Store for at least as long, because
	// dropping them earlier would not free memory.
	Uses []string
}

// entryOverhead is the overhead of an entry in bytes.
const entryOverhead = 160

// NewStore returns an empty Store for at most so many bytes.
func NewStore[V any](maxBytes int) *Store[V] {
	return &Store[V]{entries: map[string]*StoreEntry[V]{}, users: map[string]int{}, maxBytes: maxBytes}
}

// Get returns the value of a key, or the zero value.
func (s *Store[V]) Get(key []byte) (value V) {
	if entry, ok := s.entries[string(key)]; ok {
		value = entry.Value
	}
	return value
}

// Put stores a value of a size in bytes. uses are the keys of other values to which it refers. Put then drops other
// values that no value uses, in no particular order, until all values fit into the limit.
func (s *Store[V]) Put(key string, value V, bytes int, uses ...string) {
	s.Drop(key)
	entry := &StoreEntry[V]{Key: key, Value: value, Bytes: bytes, Uses: uses}
	s.entries[key] = entry
	s.bytes += entry.size()
	for _, used := range uses {
		s.users[used]++
	}
	for dropped := -1; dropped != 0 && s.bytes > s.maxBytes; {
		dropped = 0
		for candidate := range s.entries {
			if s.bytes > s.maxBytes && candidate != key && s.users[candidate] == 0 {
				s.Drop(candidate)
				dropped++
			}
		}
	}
}

// Drop removes the value of a key.
func (s *Store[V]) Drop(key string) {
	entry, ok := s.entries[key]
	if !ok {
		return
	}
	s.bytes -= entry.size()
	delete(s.entries, key)
	for _, used := range entry.Uses {
		if s.users[used]--; s.users[used] == 0 {
			delete(s.users, used)
		}
	}
}

// Len returns the number of values.
func (s *Store[V]) Len() int { return len(s.entries) }

// Bytes returns the size of all values.
func (s *Store[V]) Bytes() int { return s.bytes }

// All iterates over the entries.
func (s *Store[V]) All() iter.Seq[*StoreEntry[V]] {
	return func(yield func(*StoreEntry[V]) bool) {
		for _, entry := range s.entries {
			if !yield(entry) {
				return
			}
		}
	}
}

func (e *StoreEntry[V]) size() int { return e.Bytes + len(e.Key) + entryOverhead }
