// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// Each wait is twice as long as the one before, less a jitter of up to a fifth. Attempts that events start before the
// end of a wait do not count.
func TestJittered_DoublesWaitUntilSuccess(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		retries, logs := newRetries(), reconcile.Request{NamespacedName: logsOfShop}
		for i, seconds := range []int{1, 2, 4, 8, 16, 32, 64, 128, 256, 300, 300} {
			wait, longest := retries.When(logs), time.Duration(seconds)*time.Second
			require.LessOrEqual(t, wait, longest)
			require.Greater(t, wait, longest*4/5-time.Millisecond)
			require.Equal(t, i+1, retries.NumRequeues(logs))
			require.Equal(t, wait, retries.When(logs))
			require.Equal(t, i+1, retries.NumRequeues(logs))
			<-time.After(wait)
		}
		require.Zero(t, retries.NumRequeues(reconcile.Request{NamespacedName: auditOfShop}))

		retries.Forget(logs)

		require.Zero(t, retries.NumRequeues(logs))
		require.LessOrEqual(t, retries.When(logs), state.FirstRetry)
	})
}
