// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fairslots

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
)

// acquireLater acquires a slot in the background, sends the namespace, and returns the slot.
func acquireLater(slots *Slots, namespace string, order chan<- string) {
	go func() {
		if slots.Acquire(context.Background(), namespace) == nil {
			order <- namespace
			slots.Release(namespace)
		}
	}()
	synctest.Wait()
}

// While one namespace makes many requests, a request of another namespace waits for at most one of them.
func TestSlots_AlternateBetweenNamespaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots, order := New(1, 1), make(chan string, 10)
		require.NoError(t, slots.Acquire(t.Context(), "first"))
		for _, namespace := range []string{"large", "large", "large", "small"} {
			acquireLater(slots, namespace, order)
		}
		slots.Release("first")
		synctest.Wait()
		close(order)
		var got []string
		for namespace := range order {
			got = append(got, namespace)
		}
		require.Equal(t, []string{"large", "small", "large", "large"}, got)
		require.NoError(t, slots.Acquire(t.Context(), "first"))
	})
}

func TestSlots_LimitSlotsOfOneNamespace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slots, order := New(4, 2), make(chan string, 10)
		require.NoError(t, slots.Acquire(t.Context(), "large"))
		require.NoError(t, slots.Acquire(t.Context(), "large"))
		acquireLater(slots, "large", order)
		require.Empty(t, order, "two slots stay free for others")
		acquireLater(slots, "small", order)
		require.Equal(t, "small", <-order)
		slots.Release("large")
		synctest.Wait()
		require.Equal(t, "large", <-order)
	})
}

func TestSlots_StopWaitingIfContextEnds(t *testing.T) {
	slots := New(1, 1)
	require.NoError(t, slots.Acquire(t.Context(), "first"))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, slots.Acquire(ctx, "second"), context.Canceled)
	require.Empty(t, slots.order)
	slots.Release("first")
	require.NoError(t, slots.Acquire(t.Context(), "third"))
}
