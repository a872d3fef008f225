// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"math/rand/v2"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// jittered spreads retries, so that requests that failed together are not retried together. Additional attempts that
// events start do not increase a wait. So the wait depends on the duration of the failure.
type jittered struct {
	workqueue.TypedRateLimiter[reconcile.Request]

	mu sync.Mutex
	// next are the times of the next retries.
	next map[reconcile.Request]time.Time
}

func newRetries() *jittered {
	return &jittered{
		TypedRateLimiter: workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](state.FirstRetry, state.LastRetry),
		next:             map[reconcile.Request]time.Time{},
	}
}

// When returns the next interval, shortened by up to a fifth. Before the time of the next retry it returns the
// remaining wait.
func (j *jittered) When(request reconcile.Request) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	now := time.Now()
	if wait := j.next[request].Sub(now); wait > 0 {
		return wait
	}
	interval := j.TypedRateLimiter.When(request)
	interval -= time.Duration(rand.Int64N(int64(interval) / 5)) //nolint:gosec // The jitter does not need secure random numbers.
	j.next[request] = now.Add(interval)
	return interval
}

// Forget resets the next wait to the first one.
func (j *jittered) Forget(request reconcile.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.next, request)
	j.TypedRateLimiter.Forget(request)
}
