// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package schedule

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/manager"
)

// run runs a runnable for a time and returns when its function was called.
func run(t *testing.T, length time.Duration, newRunnable func(f func(context.Context) error) manager.RunnableFunc) (calls []time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), length)
		defer cancel()
		start := time.Now()
		require.NoError(t, newRunnable(func(context.Context) error {
			calls = append(calls, time.Since(start))
			return nil
		})(ctx))
		require.Equal(t, length, time.Since(start), "the runnable ends with the context")
	})
	return calls
}

// The function is called at once, and then again and again after the interval plus up to a fifth of it.
func TestEvery_CallsImmediatelyAndPeriodically(t *testing.T) {
	calls := run(t, 10*time.Minute, func(f func(context.Context) error) manager.RunnableFunc { return Every(time.Minute, f) })
	require.Zero(t, calls[0])
	require.Greater(t, len(calls), 8)
	for i := range calls[1:] {
		pause := calls[i+1] - calls[i]
		require.GreaterOrEqual(t, pause, time.Minute)
		require.LessOrEqual(t, pause, 72*time.Second)
	}
}

// The runnable returns the first error of the function, and does not call it again.
func TestEvery_EndsWithFirstError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, failure := 0, errors.New("no")
		err := Every(time.Minute, func(context.Context) error {
			if calls++; calls == 3 {
				return failure
			}
			return nil
		})(t.Context())
		require.ErrorIs(t, err, failure)
		require.Equal(t, 3, calls)
	})
}

// The first call happens after the delay. If the context ends before, no call happens.
func TestDelay_DelaysFirstCall(t *testing.T) {
	calls := run(t, 5*time.Minute, func(f func(context.Context) error) manager.RunnableFunc {
		return Delay(time.Minute, Every(time.Hour, f))
	})
	require.Len(t, calls, 1)
	require.GreaterOrEqual(t, calls[0], time.Minute)
	calls = run(t, time.Second, func(f func(context.Context) error) manager.RunnableFunc {
		return Delay(time.Minute, Every(time.Hour, f))
	})
	require.Empty(t, calls, "the context has ended before")
}

// A runnable runs on every replica. Without OnEveryReplica, the manager would start it on the leader only.
func TestOnEveryReplica_RunsWithoutLeaderElection(t *testing.T) {
	var onLeader manager.Runnable = Every(time.Minute, nil)
	_, isDeclared := onLeader.(manager.LeaderElectionRunnable)
	require.False(t, isDeclared)
	onAll, isDeclared := OnEveryReplica(Every(time.Minute, nil)).(manager.LeaderElectionRunnable)
	require.True(t, isDeclared)
	require.False(t, onAll.NeedLeaderElection())
}
