// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package shutdown ends the work of a stopping operator: reconciles and runnables end with the signal to stop, and a
// write in progress may finish.
package shutdown

import (
	"context"
	"errors"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

const (
	// requestTimeout is the timeout of one write.
	requestTimeout = 30 * time.Second
	// drainTimeout is the time for which a write in progress may continue after the signal to stop. It is shorter
	// than the time that the process has to stop.
	drainTimeout = 5 * time.Second
)

// Detach returns a context for a write that must not be aborted, with the timeout requestTimeout. After the signal to
// stop, the write may continue for drainTimeout. An aborted write may have reached the API server, or may reach it
// after another replica has become the leader.
func Detach(ctx context.Context) (context.Context, context.CancelFunc) {
	work, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(drainTimeout, cancel) })
	return work, func() {
		stop()
		cancel()
	}
}

// StopReconciles returns a reconciler that stops when either its own context or stop ends. The manager cancels the
// context of reconciles last, after everything that also runs in standby replicas has stopped.
func StopReconciles(stop context.Context, reconciler reconcile.Reconciler) reconcile.Reconciler {
	return reconcile.Func(func(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
		if stop.Err() != nil {
			return reconcile.Result{}, nil
		}
		ctx, cancel := joinContexts(ctx, stop)
		defer cancel()
		return reconciler.Reconcile(ctx, request)
	})
}

// StopRunnable returns a runnable that stops when either its own context or stop ends. See StopReconciles.
func StopRunnable(stop context.Context, runnable manager.Runnable) manager.Runnable {
	return manager.RunnableFunc(func(ctx context.Context) error {
		ctx, cancel := joinContexts(ctx, stop)
		defer cancel()
		return runnable.Start(ctx)
	})
}

// joinContexts returns a context that is canceled with either of two contexts. It has the values of the first context.
func joinContexts(ctx, stop context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	detach := context.AfterFunc(stop, cancel)
	return ctx, func() {
		detach()
		cancel()
	}
}

// IsStopping reports whether the operator is stopping. Unfinished work is then not a failure.
func IsStopping(ctx context.Context) bool { return errors.Is(ctx.Err(), context.Canceled) }
