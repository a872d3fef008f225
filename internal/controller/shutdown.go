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

// stoppingWith returns a reconciler that also stops with another context than its own. The manager cancels the context of
// reconciles last, after it has waited for everything that runs in standby replicas, too.
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

// runUntil returns a runnable that also stops with another context than its own, as stoppingWith does.
func runUntil(stop context.Context, runnable manager.Runnable) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		ctx, cancel := joined(ctx, stop)
		defer cancel()
		return runnable.Start(ctx)
	})
}

// joined returns a context that is canceled with either of two, and has the values of the first.
func joined(ctx, stop context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(stop, cancel)
	return ctx, func() {
		detach()
		cancel()
	}
}

// isStopping reports whether the operator is stopping: what is left undone then is no failure.
func isStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
