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
)

const (
	// leastGarbagePercent is how much garbage may come on top of what lives before it
	// is collected: less than Go's 100, because what lives is mostly the cache of the
	// fleet, and twice its size would be held for little.
	leastGarbagePercent = 50
	// leastGarbage and leastFilling, in MiB, may come on top of a small fleet's, too:
	// else a fan-out, and the filling of the caches, would be spent on collecting every
	// few megabytes. Of what the filling takes, some is not given back.
	leastGarbage = 24
	leastFilling = 18
	// reconsidered and reconsideredFilling are how often the size of the fleet is
	// looked at.
	reconsidered        = time.Minute
	reconsideredFilling = 50 * time.Millisecond
)

// garbage says how much of it may come: not more than what lives makes worth while,
// unless the variable GOGC says it, and not more than the container has room for, unless
// GOMEMLIMIT does.
type garbage struct {
	// filled ends the time of filling the caches, when what lives grows.
	filled context.CancelFunc
}

func beginGarbage(ctx context.Context) *garbage {
	ctx, filled := context.WithCancel(ctx)
	go limitGarbage(ctx, leastFilling, reconsideredFilling)
	return &garbage{filled}
}

// Start is called by the manager when the caches are filled. Decoding the lists of a
// large fleet takes as much again as the records that are kept of it, and the
// collector would hold on to that for minutes.
func (g *garbage) Start(ctx context.Context) error {
	g.filled()
	debug.FreeOSMemory()
	limitGarbage(ctx, leastGarbage, reconsidered)
	return nil
}

// limitGarbage has the limits follow the size of the fleet, and the limit of the
// container, which may be resized in place, until the context ends.
func limitGarbage(ctx context.Context, least int, interval time.Duration) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	machine := os.DirFS("/")
	for percent, memory := 0, int64(0); ; {
		// To set one stops everything for a moment.
		if now := garbagePercent(least, living()); now != percent && os.Getenv("GOGC") == "" {
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

// memoryLimit is what of a container's memory, 0 for one without a limit, is for what the
// collector knows of: a tenth is for the rest, such as what the kernel holds for the process.
func memoryLimit(container int64) int64 {
	if container == 0 {
		return math.MaxInt64
	}
	return container / 10 * 9
}

// NeedLeaderElection says that those that stand by have filled their caches, too.
func (*garbage) NeedLeaderElection() bool { return false }

// living is how many bytes the collector found in use the last time.
func living() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func garbagePercent(least int, living uint64) int {
	inMebibytes := int(min(living>>20, 1<<20)) // A tebibyte: it does not overflow.
	return max(leastGarbagePercent, 100*least/max(inMebibytes, 1))
}
