// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"math/rand/v2"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// RateLimiter is the rate limiter of a queue. It spreads retries, so that requests that failed together are not retried
// together. Additional attempts that events start do not increase a wait. So the wait depends on the duration of the
// failure.
type RateLimiter struct {
	backoff *Backoff

	mu sync.Mutex
	// failures are the requests that failed and did not succeed since.
	failures map[reconcile.Request]failure
}

// failure is a request that failed some times in a row.
type failure struct {
	count int
	retry time.Time
}

// NewRateLimiter returns a RateLimiter without failures.
func NewRateLimiter() *RateLimiter {
	return &RateLimiter{backoff: NewBackoff(), failures: map[reconcile.Request]failure{}}
}

// When returns the next wait, shortened by up to a fifth. Before the time of the next retry, it returns the remaining
// wait.
func (r *RateLimiter) When(request reconcile.Request) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	previous, now := r.failures[request], time.Now()
	if wait := previous.retry.Sub(now); wait > 0 {
		return wait
	}
	interval := r.backoff.Next(RetryReconcile, request.String())
	interval -= time.Duration(rand.Int64N(int64(interval) / 5)) //nolint:gosec // The jitter does not need secure random numbers.
	r.failures[request] = failure{count: previous.count + 1, retry: now.Add(interval)}
	return interval
}

// Forget resets the wait of a request to the first one.
func (r *RateLimiter) Forget(request reconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failures, request)
	r.backoff.Reset(RetryReconcile, request.String())
}

// NumRequeues returns how often a request failed in a row.
func (r *RateLimiter) NumRequeues(request reconcile.Request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures[request].count
}
