// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// When the store exceeds its limit of bytes, it evicts older entries and keeps the latest one.
func TestStore_EvictsEntriesOverLimit(t *testing.T) {
	s := NewStore[int](1000)
	for n := range 100 {
		s.Put(fmt.Sprint(n), n, 100)
		require.Equal(t, n, s.Get([]byte(fmt.Sprint(n))), "the last one is there")
		require.LessOrEqual(t, s.Bytes(), 1000)
	}
	s.Put("99", 7, 50)
	require.Equal(t, 7, s.Get([]byte("99")))
	s.Put("large", 8, 5000)
	require.Equal(t, 1, s.Len(), "nothing else has room beside it")
	s.Put("small", 9, 10)
	require.Equal(t, 1, s.Len())
	s.Drop("small")
	s.Drop("nothing")
	require.Zero(t, s.Bytes())
	require.Zero(t, s.Get([]byte("small")))
}

// The store evicts an entry only after the entries that use its value, because evicting it earlier would not free
// memory.
func TestStore_KeepsUsedValues(t *testing.T) {
	const size = 100
	s := NewStore[int](10 * (size + len("00") + entryOverhead))
	s.Put("a", 1, size)
	for n := range 100 {
		s.Put(fmt.Sprint(n), n, size, "a")
		require.Equal(t, 1, s.Get([]byte("a")))
	}
	s.Put("large", 2, s.maxBytes-len("large")-entryOverhead)
	require.Equal(t, 1, s.Len())
	require.Equal(t, s.maxBytes, s.Bytes())
	require.Empty(t, s.users)
}

// The counted bytes of a value are close to the memory that Go allocates for it.
func TestFootprint_ApproximatesAllocatedMemory(t *testing.T) {
	made := func() map[string]any {
		tree := map[string]any{}
		for n := range 1000 {
			tree[fmt.Sprintf("key-%04d", n)] = map[string]any{"list": []any{strings.Repeat("x", 100+n%7), n, true}, "more": fmt.Sprintf("text %d", n)}
		}
		return tree
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.GC() // What pools held is gone only now.
	runtime.ReadMemStats(&before)
	tree := made()
	runtime.GC()
	runtime.ReadMemStats(&after)
	t.Logf("%d of %d bytes", Footprint(tree), after.HeapAlloc-before.HeapAlloc)
	require.InEpsilon(t, after.HeapAlloc-before.HeapAlloc, Footprint(tree), 0.5)
	runtime.KeepAlive(tree)
}

// A value that occurs several times in a tree is counted once.
func TestFootprint_CountsSharedValuesOnce(t *testing.T) {
	type node struct {
		next *node
		data []byte
	}
	ring := &node{data: make([]byte, 1000)}
	ring.next = ring
	require.Less(t, Footprint(ring), 1100)
	shared := &struct{ text string }{strings.Repeat("x", 1000)}
	require.Less(t, Footprint([]any{shared, shared}), 1200)
}

// If another footprint already counts a value, its bytes are not counted again.
func TestFootprint_ExcludesValuesCountedElsewhere(t *testing.T) {
	type holder struct{ own, others *[]byte }
	own, others := make([]byte, 1000), make([]byte, 50_000)
	held := holder{&own, &others}
	require.Greater(t, Footprint(held), 51_000)
	require.Less(t, Footprint(held, &others), 2000)
	require.Equal(t, Footprint(held), Footprint(held, (*holder)(nil)))
}
