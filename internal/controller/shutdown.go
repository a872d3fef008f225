// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// passTimeout is how long a reconcile may start new writes. The next reconcile makes the remaining writes.
	passTimeout = 2 * time.Minute
	// requestTimeout is the timeout of one write.
	requestTimeout = 30 * time.Second
	// drainTimeout is how long a write in progress may continue after the signal to stop. It is shorter than the time
	// that the process has to stop.
	drainTimeout = 5 * time.Second
)

// detached returns a context for a write that must not be aborted. An aborted write may have reached the API server, or
// may reach it after another replica has become the leader.
func detached(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(drainTimeout, cancel) })
	return work, func() {
		stop()
		cancel()
	}
}

// stoppingWith returns a reconciler that also stops when a second context ends. The manager cancels the context of
// reconciles last, after everything that also runs in standby replicas has stopped.
func stoppingWith(stop context.Context, reconciler reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if stop.Err() != nil {
			return reconcile.Result{}, nil
		}
		ctx, cancel := joined(ctx, stop)
		defer cancel()
		return reconciler.Reconcile(ctx, request)
	})
}

// runUntil returns a runnable that also stops when a second context ends, like stoppingWith.
func runUntil(stop context.Context, runnable manager.Runnable) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		ctx, cancel := joined(ctx, stop)
		defer cancel()
		return runnable.Start(ctx)
	})
}

// joined returns a context that is canceled with either of two contexts. It has the values of the first context.
func joined(ctx, stop context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(stop, cancel)
	return ctx, func() {
		detach()
		cancel()
	}
}

// isStopping reports whether the operator is stopping. Unfinished work is then not a failure.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
