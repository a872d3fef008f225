// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"
)

// publishTimer waits until the platform's ConfigMaps are published by time alone.
type publishTimer struct {
	clock func() time.Time
	// due has the latest time.
	due chan time.Time
}

func newPublishTimer(clock func() time.Time) *publishTimer {
	return &publishTimer{clock: clock, due: make(chan time.Time, 1)}
}

// set replaces the time. Zero keeps it: the caller may be the first one that has read what is published by time, and all
// others still have to be told. Callers hold the catalog's lock, so that there is one at a time.
func (t *publishTimer) set(dueTime time.Time) {
	if dueTime.IsZero() {
		return
	}
	select {
	case <-t.due:
	default:
	}
	t.due <- dueTime
}

// run calls publish at each time, until the context ends.
func (t *publishTimer) run(ctx context.Context, publish func(context.Context)) {
	var (
		dueTime time.Time
		fire    <-chan time.Time
	)
	for {
		select {
		case <-ctx.Done():
			return
		case dueTime = <-t.due:
			fire = time.After(dueTime.Sub(t.clock()))
		case <-fire:
			if remaining := dueTime.Sub(t.clock()); remaining > 0 { // The clock has been set back.
				fire = time.After(remaining)
				continue
			}
			fire = nil
			publish(ctx)
		}
	}
}
