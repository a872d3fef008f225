// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package shutdown

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The stop signal cancels the context of a reconcile in progress, and prevents further reconciles. The manager itself
// would cancel the contexts later.
func TestStopReconciles_CancelsReconcilesAtStop(t *testing.T) {
	stop, request := context.WithCancel(t.Context())
	started := 0
	reconciler := StopReconciles(stop, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		started++
		require.NoError(t, ctx.Err())
		request()
		<-ctx.Done()
		require.True(t, IsStopping(ctx))
		return reconcile.Result{}, nil
	}))
	for range 2 {
		_, err := reconciler.Reconcile(t.Context(), reconcile.Request{})
		require.NoError(t, err)
	}
	require.Equal(t, 1, started, "none starts after the signal")
}

func TestStopRunnable_CancelsRunnableAtStop(t *testing.T) {
	stop, request := context.WithCancel(t.Context())
	request()
	require.NoError(t, StopRunnable(stop, manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})).Start(t.Context()))
}

// A write in progress continues for a limited time after the stop signal.
func TestDetach_ContinuesAfterStopSignal(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	work, done := Detach(ctx)
	defer done()
	deadline, bounded := work.Deadline()
	require.True(t, bounded)
	require.LessOrEqual(t, time.Until(deadline), requestTimeout)

	stop()

	require.NoError(t, work.Err())
	require.True(t, IsStopping(ctx))
	late, cancel := context.WithTimeout(t.Context(), 0)
	defer cancel()
	require.False(t, IsStopping(late), "a pass that takes too long is a failure")
}
