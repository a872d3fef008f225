// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The manager cancels the contexts of reconciles later.
func TestStoppingWith_EndsReconciles(t *testing.T) {
	stop, request := context.WithCancel(t.Context())
	started := 0
	reconciler := stoppingWith(stop, reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		started++
		require.NoError(t, ctx.Err())
		request()
		<-ctx.Done()
		require.True(t, isStopping(ctx))
		return reconcile.Result{}, nil
	}))
	for range 2 {
		_, err := reconciler.Reconcile(t.Context(), reconcile.Request{})
		require.NoError(t, err)
	}
	require.Equal(t, 1, started, "none starts after the signal")
}

func TestRunUntil_EndsRunnable(t *testing.T) {
	stop, request := context.WithCancel(t.Context())
	request()
	require.NoError(t, runUntil(stop, manager.RunnableFunc(func(ctx context.Context) error {
		<-ctx.Done()
		return nil
	})).Start(t.Context()))
}
