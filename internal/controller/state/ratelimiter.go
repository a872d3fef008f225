// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"math/rand/v2"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// RateLimiter is the rate limiter of a queue. It spreads retries at random, so that requests that failed together are
// not retried together. Attempts that events start before a wait has ended do not increase the wait, which therefore
// depends on the duration of the failure.
type RateLimiter struct {
	backoff *Backoff

	mu sync.Mutex
	// failures are the requests that failed and did not succeed since.
	failures map[reconcile.Request]failure
}

// failure has the number of consecutive failures of a request, and the time of its next retry.
type failure struct {
	count int
	retry time.Time
}

// NewRateLimiter returns a RateLimiter without failures.
func NewRateLimiter() *RateLimiter {
	return &RateLimiter{backoff: NewBackoff(), failures: map[reconcile.Request]failure{}}
}

// When returns the wait before the next retry of a request, shortened at random by up to a fifth. If the last wait
// has not ended, it returns the rest of it.
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

// Forget records a success of a request. The next failure has the first wait.
func (r *RateLimiter) Forget(request reconcile.Request) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.failures, request)
	r.backoff.Reset(RetryReconcile, request.String())
}

// NumRequeues returns the number of consecutive failures of a request.
func (r *RateLimiter) NumRequeues(request reconcile.Request) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.failures[request].count
}
