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

// A large input waits until the large inputs before it release their share of the budget. A small input never waits.
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

// Two inputs each hold half of the budget and need the rest. Neither blocks the other forever, because a share is
// released before it is extended.
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

// A task that holds the whole budget calls Reacquire between its steps. Then a waiting Reserve gets the budget before
// the task continues.
func TestReacquire_AllowsWaitingReserveFirst(t *testing.T) {
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

// Without a budget, Reserve returns at once.
func TestReserve_SucceedsOnNilBudget(t *testing.T) {
	var none *Budget
	share, err := none.Reserve(t.Context(), 100*budgetBytes)
	require.NoError(t, err)
	share.Release()
}
