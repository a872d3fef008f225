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
	// leastGarbage, in MiB, may come on top of a small fleet's, too: else a fan-out
	// would be spent on collecting every few megabytes.
	leastGarbage = 24
	// reconsidered is how often the size of the fleet is looked at.
	reconsidered = time.Minute
)

// garbage says how much of it may come, unless the variable GOGC does.
type garbage struct{}

// beginGarbage is for the time until the caches are filled, when what lives grows.
func beginGarbage() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(leastGarbagePercent)
	}
}

// Start is called by the manager when the caches are filled. Decoding the lists of a
// large fleet takes as much again as the records that are kept of it, and the
// collector would hold on to that for minutes.
func (garbage) Start(ctx context.Context) error {
	debug.FreeOSMemory()
	if os.Getenv("GOGC") != "" {
		return nil
	}
	ticker := time.NewTicker(reconsidered)
	defer ticker.Stop()
	for {
		debug.SetGCPercent(garbagePercent(living()))
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return nil
		}
	}
}

// NeedLeaderElection says that those that stand by have filled their caches, too.
func (garbage) NeedLeaderElection() bool { return false }

// living is how many bytes the collector found in use the last time.
func living() uint64 {
	sample := []metrics.Sample{{Name: "/gc/heap/live:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

func garbagePercent(living uint64) int {
	inMebibytes := int(min(living>>20, 1<<20)) // A tebibyte: it does not overflow.
	return max(leastGarbagePercent, 100*leastGarbage/max(inMebibytes, 1))
}
