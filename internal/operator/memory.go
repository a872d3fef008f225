// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package operator

import (
	"context"
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

// garbage says how much of it may come, unless the variable GOGC does.
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

// limitGarbage has the limit follow the size of the fleet until the context ends.
func limitGarbage(ctx context.Context, least int, interval time.Duration) {
	if os.Getenv("GOGC") != "" {
		return
	}
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for last := 0; ; {
		// To set it stops everything for a moment.
		if percent := garbagePercent(least, living()); percent != last {
			debug.SetGCPercent(percent)
			last = percent
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
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
