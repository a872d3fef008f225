// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// jittered spreads retries. Without it, everything that failed together would be retried together.
type jittered struct {
	workqueue.TypedRateLimiter[reconcile.Request]
}

func newRetries() jittered {
	return jittered{workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](state.FirstRetry, state.LastRetry)}
}

// When shortens the interval by up to a fifth.
func (j jittered) When(request reconcile.Request) time.Duration {
	interval := j.TypedRateLimiter.When(request)
	return interval - time.Duration(rand.Int64N(int64(interval)/5)) //nolint:gosec // It guards nothing.
}

// minNonZero returns the shorter of two waits, of which 0 means never.
func minNonZero(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// atOnce requeues at once; 0 would mean never.
const atOnce = time.Millisecond
