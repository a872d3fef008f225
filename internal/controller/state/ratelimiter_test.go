// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// Each wait is twice as long as the one before, less a jitter of up to a fifth, until an attempt succeeds. An attempt
// that an event starts before the end of a wait does not change the wait.
func TestRateLimiter_DoublesWaitUntilSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retries, logs := NewRateLimiter(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "logs"}}
		for i, seconds := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
			wait, longest := retries.When(logs), time.Duration(seconds)*time.Second
			require.LessOrEqual(t, wait, longest)
			require.Greater(t, wait, longest*4/5-time.Millisecond)
			require.Equal(t, i+1, retries.NumRequeues(logs))
			require.Equal(t, wait, retries.When(logs))
			require.Equal(t, i+1, retries.NumRequeues(logs))
			<-time.After(wait)
		}
		require.Zero(t, retries.NumRequeues(reconcile.Request{}))

		retries.Forget(logs)

		require.Zero(t, retries.NumRequeues(logs))
		require.LessOrEqual(t, retries.When(logs), FirstRetry)
	})
}

// Waits grow from one second to five minutes. With jitter, two VectorSidecars do not retry at the same time.
func TestRateLimiter_AddsJitter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retries := NewRateLimiter()
		request := reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: "logs"}}
		interval := FirstRetry
		for range 12 {
			wait := retries.When(request)
			require.LessOrEqual(t, wait, interval)
			require.Greater(t, wait, interval*4/5-1)
			time.Sleep(wait / 2) //nolint:forbidigo // the test's own clock
			for range 3 {
				require.Equal(t, wait-wait/2, retries.When(request), "what events have tried meanwhile makes it no longer")
			}
			time.Sleep(wait - wait/2) //nolint:forbidigo // the test's own clock
			interval = min(2*interval, LastRetry)
		}
		require.Equal(t, LastRetry, interval)
		retries.Forget(request)
		require.LessOrEqual(t, retries.When(request), FirstRetry, "what went well begins anew")

		different := map[time.Duration]bool{}
		for i := range 20 {
			request.Name = fmt.Sprint(i)
			different[retries.When(request)] = true
		}
		require.Greater(t, len(different), 10, "what failed together is not tried together")
	})
}
