// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"errors"
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
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

// staleRetry is when to retry first after a conflict on an object other than a workload: somebody else has written
// it, or the cache does not show our own write yet. After mostStale conflicts in a row, which take some ten
// seconds, it is something else that answers so, and an error like any other.
const (
	staleRetry = 50 * time.Millisecond
	mostStale  = 8
)

// conflicts spreads the retries after conflicts, and counts them.
type conflicts struct {
	workqueue.TypedRateLimiter[reconcile.Request]
}

func newConflicts() *conflicts {
	return &conflicts{workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](staleRetry, state.LastRetry)}
}

// pass reports whether an error is a conflict that a retry will not meet again, as far as is known.
func (c *conflicts) pass(request reconcile.Request, err error) bool {
	return errors.Is(err, apply.ErrStale) && c.NumRequeues(request) < mostStale
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
