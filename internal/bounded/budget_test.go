// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package bounded

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// Large inputs wait for each other, small ones never wait.
func TestBudget_QueuesLargeInputs(t *testing.T) {
	budget := NewBudget()
	first, err := budget.Reserve(t.Context(), budgetBytes-1)
	require.NoError(t, err)

	small, err := budget.Reserve(t.Context(), smallBytes)
	require.NoError(t, err, "a small one waits for nobody")
	small.Release()

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(nil)
	_, err = budget.Reserve(ctx, smallBytes+1)
	require.ErrorIs(t, err, context.Canceled, "a large one waits as long as it may")

	first.Release()
	first.Release()
	second, err := budget.Reserve(t.Context(), 100*budgetBytes)
	require.NoError(t, err, "one that is larger than all there is takes all there is")
	require.NoError(t, second.Extend(ctx, 1), "and has it already")
	second.Release()
}

// A Share is released before it is extended: two that each hold half and need the rest do
// not deadlock.
func TestShare_ExtendsWithoutDeadlock(t *testing.T) {
	budget := NewBudget()
	var held atomic.Int64
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 200 {
				share, err := budget.Reserve(t.Context(), budgetBytes/2)
				if err != nil || share.Extend(t.Context(), budgetBytes/2) != nil {
					t.Error("waiting failed")
					return
				}
				if held.Add(1) > 1 {
					t.Error("two have all of it")
				}
				held.Add(-1)
				share.Release()
			}
		})
	}
	all.Wait()
}

// A long task lets others go first in between.
func TestReacquire_LetsWaitingSharesProceed(t *testing.T) {
	budget := NewBudget()
	first, err := budget.Reserve(t.Context(), budgetBytes)
	require.NoError(t, err)
	waits, done := make(chan struct{}), make(chan error)
	go func() {
		close(waits)
		second, err := budget.Reserve(t.Context(), budgetBytes)
		second.Release()
		done <- err
	}()
	<-waits
	for isDone := false; !isDone; {
		require.NoError(t, first.Reacquire(t.Context()))
		select {
		case err := <-done:
			require.NoError(t, err)
			isDone = true
		default:
		}
	}
	first.Release()
}

func TestReserve_SucceedsOnNilBudget(t *testing.T) {
	var none *Budget
	share, err := none.Reserve(t.Context(), 100*budgetBytes)
	require.NoError(t, err)
	share.Release()
}
