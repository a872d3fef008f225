// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
)

func TestAStoreHoldsWhatThereIsRoomFor(t *testing.T) {
	s := newStore[int](1000)
	for n := range 100 {
		s.put(fmt.Sprint(n), n, 100)
		require.Equal(t, n, s.get([]byte(fmt.Sprint(n))), "the last one is there")
		require.LessOrEqual(t, s.bytes, 1000)
	}
	s.put("99", 7, 50)
	require.Equal(t, 7, s.get([]byte("99")))
	s.put("large", 8, 5000)
	require.Len(t, s.held, 1, "nothing else has room beside it")
	s.put("small", 9, 10)
	require.Len(t, s.held, 1)
	s.drop("small")
	s.drop("nothing")
	require.Zero(t, s.bytes)
}

func TestAFootprintIsAboutWhatIsAllocated(t *testing.T) {
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
	t.Logf("%d of %d bytes", footprint(tree), after.HeapAlloc-before.HeapAlloc)
	require.InEpsilon(t, after.HeapAlloc-before.HeapAlloc, footprint(tree), 0.5)
	runtime.KeepAlive(tree)
}

func TestWhatIsSharedCountsOnce(t *testing.T) {
	type node struct {
		next *node
		data []byte
	}
	ring := &node{data: make([]byte, 1000)}
	ring.next = ring
	require.Less(t, footprint(ring), 1100)
	shared := &corev1.ConfigMap{Data: map[string]string{"a": strings.Repeat("x", 1000)}}
	require.Less(t, footprint([]*corev1.ConfigMap{shared, shared}), 2000)
}

// A tenant may have as many large configurations as there is room for objects.
func TestAMemoIsBoundedInBytes(t *testing.T) {
	memo, target := NewMemo(), settled(fleet(1)[0])
	for n := range 100 {
		b := &batch{memo: memo, common: fmt.Appendf(nil, "request %d", n)}
		fresh := &wanted{companions: []corev1.ConfigMap{{Data: map[string]string{"vector.yaml": strings.Repeat("x", 500_000)}}}}
		b.keep(&target, fresh)
		sidecar := logs().Build()
		sidecar.Name = fmt.Sprint(n)
		memo.keep(sidecar, &recall{injected: judgements{now: []*judgement{{wanted: fresh}, {wanted: fresh}}}})
		require.Same(t, fresh, remembered(memo, memo.rendered, b.common))
		require.NotNil(t, memo.recalls.get([]byte("shop/"+fmt.Sprint(n))))
	}
	require.LessOrEqual(t, memo.rendered.bytes, mostRendered)
	require.InDelta(t, mostRendered/500_000, len(memo.rendered.held), 2)
	require.LessOrEqual(t, memo.recalls.bytes, mostRecalled)
	require.InDelta(t, mostRecalled/500_000, len(memo.recalls.held), 2)
}

// What was made of a rendering afterwards is a part of it.
func TestARenderingGrowsWithItsCuts(t *testing.T) {
	memo := NewMemo()
	b := &batch{memo: memo, common: []byte("common")}
	target, fresh := settled(fleet(1)[0]), &wanted{}
	b.keep(&target, fresh)
	before := memo.rendered.bytes
	memo.grow(fresh, 1000)
	require.Equal(t, before+1000, memo.rendered.bytes)
	memo.grow(&wanted{}, 1000)
	require.Equal(t, before+1000, memo.rendered.bytes, "nobody remembers this one")
}

// A pass that alone takes more than all may is not worth remembering.
func TestAPassThatTakesTooMuchIsForgotten(t *testing.T) {
	memo, sidecar := NewMemo(), logs().Build()
	memo.keep(sidecar, &recall{})
	large := &wanted{}
	large.bytes.Store(mostRecalled)
	memo.keep(sidecar, &recall{injected: judgements{now: []*judgement{{wanted: large}}}})
	require.Empty(t, memo.recalls.held)
	require.Zero(t, memo.recalls.bytes)
}
