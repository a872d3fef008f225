// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

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

// Workloads of a kind that a cluster may lack are listed after all others. What that takes is given back, too; and
// if they never are, it is not waited for.
func TestMemoryIsGivenBackWhenAllWorkloadsAreListed(t *testing.T) {
	for name, comes := range map[string]bool{"late": true, "never": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				syncing, synced := context.WithCancel(t.Context())
				ctx, stop := context.WithCancel(t.Context())
				var isSynced atomic.Bool
				ended := make(chan error)
				go func() { ended <- (&gcTuner{synced: synced, isSynced: isSynced.Load}).Start(ctx) }()
				time.Sleep(mostSyncing / 2) //nolint:forbidigo // the clock is the test's own
				require.NoError(t, syncing.Err())
				isSynced.Store(comes)
				time.Sleep(2 * tuneIntervalSyncing) //nolint:forbidigo // as above
				synctest.Wait()
				require.Equal(t, comes, syncing.Err() != nil)
				time.Sleep(mostSyncing) //nolint:forbidigo // as above
				synctest.Wait()
				require.Error(t, syncing.Err())
				stop()
				require.NoError(t, <-ended)
			})
		})
	}
}
