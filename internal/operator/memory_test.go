// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestGarbageIsLimitedByWhatLives(t *testing.T) {
	for name, test := range map[string]struct {
		living uint64
		want   int
	}{
		"nothing was looked at yet": {0, 2400},
		"a small fleet":             {8 << 20, 300},
		"as much again":             {24 << 20, 100},
		"a large fleet":             {200 << 20, 50},
	} {
		require.Equal(t, test.want, garbagePercent(24, test.living), name)
	}
}

func TestWhatLivesIsMeasured(t *testing.T) {
	runtime.GC()
	before := living()
	held := make([]byte, 32<<20)
	runtime.GC()
	require.InDelta(t, before+32<<20, living(), 8<<20)
	runtime.KeepAlive(held)
}
