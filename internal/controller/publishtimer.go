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
	// due has the latest time, zero for never.
	due chan time.Time
}

func newPublishTimer(clock func() time.Time) *publishTimer {
	return &publishTimer{clock: clock, due: make(chan time.Time, 1)}
}

// set replaces the time. Callers hold the catalog's lock, so that there is one at a time.
func (t *publishTimer) set(due time.Time) {
	select {
	case <-t.due:
	default:
	}
	t.due <- due
}

// run calls publish at each time, until the context ends.
func (t *publishTimer) run(ctx context.Context, publish func(context.Context)) {
	var fire <-chan time.Time
	for {
		select {
		case <-ctx.Done():
			return
		case due := <-t.due:
			if fire = nil; !due.IsZero() {
				fire = time.After(due.Sub(t.clock()))
			}
		case <-fire:
			fire = nil
			publish(ctx)
		}
	}
}
