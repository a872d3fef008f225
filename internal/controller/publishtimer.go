// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"
)

// publishTimer waits for the time at which the platform's ConfigMaps are published without an event.
type publishTimer struct {
	clock func() time.Time
	// due has the latest time.
	due chan time.Time
}

func newPublishTimer(clock func() time.Time) *publishTimer {
	return &publishTimer{clock: clock, due: make(chan time.Time, 1)}
}

// set replaces the time. A zero time does not change it. The caller may be the first one that read the content
// published at that time, so all other VectorSidecars still need a reconcile. Callers hold the catalog's lock, so that
// calls are not concurrent.
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
			if remaining := dueTime.Sub(t.clock()); remaining > 0 { // The clock was set back.
				fire = time.After(remaining)
				continue
			}
			fire = nil
			publish(ctx)
		}
	}
}
