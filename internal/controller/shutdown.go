// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"
)

const (
	// passTimeout is how long a pass may begin new work. The next one does the rest.
	passTimeout = 2 * time.Minute
	// requestTimeout is how long one write may take.
	requestTimeout = 30 * time.Second
	// drainTimeout is how long a write that is under way may go on after the signal to
	// stop: less than the process has.
	drainTimeout = 5 * time.Second
)

// detached returns a context for a write that is not to be broken off in the
// middle: whether it took place would be unknown, and it could take place after
// another operator has begun to lead.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(drainTimeout, cancel) })
	return work, func() {
		stop()
		cancel()
	}
}

// isStopping tells whether the operator was told to stop: what is left undone is
// no failure then.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
