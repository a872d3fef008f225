// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"runtime"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"
)

// A value is created once, and dropped after its last user.
func TestInterned_SharesValueUntilLastUse(t *testing.T) {
	s, made := newInterned[string, [16]byte](), 0
	get := func() *[16]byte {
		return s.getOrCreate("a", func() *[16]byte { made++; return &[16]byte{1} })
	}
	first := get()
	require.Same(t, first, get())
	require.Equal(t, 1, made)
	runtime.KeepAlive(first)

	require.Eventually(t, func() bool {
		runtime.GC()
		s.mu.Lock()
		defer s.mu.Unlock()
		return len(s.values) == 0
	}, 10*time.Second, time.Millisecond)
	get()
	require.Equal(t, 2, made)
}

// Workloads have the same keys of labels and annotations, and the workload's name as a value. Each is in memory once.
func TestReduce_SharesKeysOfLabels(t *testing.T) {
	cache, keys := New(), map[string]*byte{}
	for _, name := range []string{"cart", "till"} {
		record := cache.Reduce(decoded(t, chartDeployment(name, "shop"), name))
		require.Equal(t, unsafe.StringData(record.Name), unsafe.StringData(record.Labels().Get("app.kubernetes.io/name")))
		for key := range record.object.Labels {
			if keys[key] == nil {
				keys[key] = unsafe.StringData(key)
			}
			require.Equal(t, keys[key], unsafe.StringData(key), key)
		}
	}
}
