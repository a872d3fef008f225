// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGarbageisLimitedByWhatLives(t *testing.T) {
	for name, test := range map[string]struct {
		live uint64
		want int
	}{
		"nothing was looked at yet": {0, 2400},
		"a small fleet":             {8 << 20, 300},
		"as much again":             {24 << 20, 100},
		"a large fleet":             {200 << 20, 50},
	} {
		require.Equal(t, test.want, gcPercent(24, test.live), name)
	}
}

func TestTheLiveHeapIsMeasured(t *testing.T) {
	runtime.GC()
	before := liveHeap()
	held := make([]byte, 32<<20)
	runtime.GC()
	require.InDelta(t, before+32<<20, liveHeap(), 8<<20)
	runtime.KeepAlive(held)
}
