// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// minGCPercent is the minimum for GOGC: less than Go's 100, because the live heap is
	// mostly the workload cache, and doubling it would waste memory.
	minGCPercent = 50
	// minGarbage and minGarbageSyncing, in MiB, are how much garbage is always allowed, also
	// with a small live heap: otherwise a fan-out, or the initial cache sync, would collect
	// every few megabytes. The latter is smaller because some of that memory is never
	// returned.
	minGarbage        = 24
	minGarbageSyncing = 18
	// tuneInterval and tuneIntervalSyncing are how often the live heap is measured.
	tuneInterval        = time.Minute
	tuneIntervalSyncing = 50 * time.Millisecond
)

// gcTuner sets GOGC according to the live heap, unless the variable GOGC is set, and the
// memory limit according to the container's, unless GOMEMLIMIT is set.
type gcTuner struct {
	// synced ends the initial cache sync, during which the live heap grows.
	synced context.CancelFunc
	// isSynced reports whether all workloads are in the cache.
	isSynced func() bool
}

func startGCTuner(ctx context.Context) *gcTuner {
	ctx, synced := context.WithCancel(ctx)
	go tuneGC(ctx, minGarbageSyncing, tuneIntervalSyncing)
	return &gcTuner{synced: synced, isSynced: func() bool { return true }}
}

// mostSyncing is how long workloads may take to be listed that the manager does not wait for: those of a kind
// that a cluster may lack.
const mostSyncing = time.Minute

// Start is called by the manager when the caches are synced that it knows. Decoding the lists of a large
// fleet allocates as much again as the records that are kept, and the runtime would hold on
// to that memory for minutes.
func (g *gcTuner) Start(ctx context.Context) error {
	syncing, cancel := context.WithTimeout(ctx, mostSyncing)
	defer cancel()
	_ = wait.PollUntilContextCancel(syncing, tuneIntervalSyncing, true, func(context.Context) (bool, error) { return g.isSynced(), nil })
	g.synced()
	debug.FreeOSMemory()
	tuneGC(ctx, minGarbage, tuneInterval)
	return nil
}

// tuneGC adjusts the limits to the live heap, and to the limit of the container, which may
// be resized in place, until the context is cancelled.
func tuneGC(ctx context.Context, least int, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	machine := os.DirFS("/")
	for percent, memory := 0, int64(0); ; {
		// Setting either stops the world for a moment.
		if now := gcPercent(least, liveHeap()); now != percent && os.Getenv("GOGC") == "" {
			debug.SetGCPercent(now)
			percent = now
		}
		if now := memoryLimit(containerMemory(machine)); now != memory && os.Getenv("GOMEMLIMIT") == "" {
			debug.SetMemoryLimit(now)
			memory = now
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// memoryLimit returns how much of a container's memory the Go runtime may use; 0 means that
// the container has no limit. A tenth is left for other memory, such as the kernel's.
func memoryLimit(container int64) int64 {
	if container == 0 {
		return math.MaxInt64
	}
	return container / 10 * 9
}

// NeedLeaderElection implements manager.LeaderElectionRunnable: standby replicas fill their
// caches, too.
func (*gcTuner) NeedLeaderElection() bool { return false }

// liveHeap returns how many bytes were in use after the last garbage collection.
func liveHeap() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func gcPercent(least int, live uint64) int {
	inMebibytes := int(min(live>>20, 1<<20)) // At most a tebibyte, so that it does not overflow.
	return max(minGCPercent, 100*least/max(inMebibytes, 1))
}
