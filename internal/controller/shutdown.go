// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"
)

const (
	// passTimeout is how long a pass may begin new writes. The next pass does the rest.
	passTimeout = 2 * time.Minute
	// requestTimeout is the timeout of one write.
	requestTimeout = 30 * time.Second
	// drainTimeout is how long a write in flight may go on after the signal to stop. It is shorter
	// than the time that the process has.
	drainTimeout = 5 * time.Second
)

// detached returns a context for a write that must not be aborted halfway. It would be unknown
// whether it took place, and it could take place after another replica has become leader.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(drainTimeout, cancel) })
	return work, func() {
		stop()
		cancel()
	}
}

// isStopping reports whether the operator is stopping: what is left undone then is no failure.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
