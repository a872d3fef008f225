// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"math/rand/v2"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
)

// jittered is the rate limiter of a queue. It spreads retries, so that requests that failed together are not retried
// together. Additional attempts that events start do not increase a wait. So the wait depends on the duration of the
// failure.
type jittered struct {
	backoff *state.Backoff

	mu sync.Mutex
	// failures are the requests that failed and did not succeed since.
	failures map[reconcile.Request]failure
}

// failure is a request that failed some times in a row.
type failure struct {
	count int
	retry time.Time
}

func newRetries() *jittered {
	return &jittered{backoff: state.NewBackoff(), failures: map[reconcile.Request]failure{}}
}

// When returns the next interval, shortened by up to a fifth. Before the time of the next retry it returns the
// remaining wait.
func (j *jittered) When(request reconcile.Request) time.Duration {
	j.mu.Lock()
	defer j.mu.Unlock()
	previous, now := j.failures[request], time.Now()
	if wait := previous.retry.Sub(now); wait > 0 {
		return wait
	}
	interval := j.backoff.Next(state.RetryReconcile, request.String())
	interval -= time.Duration(rand.Int64N(int64(interval) / 5)) //nolint:gosec // The jitter does not need secure random numbers.
	j.failures[request] = failure{count: previous.count + 1, retry: now.Add(interval)}
	return interval
}

// Forget resets the next wait to the first one.
func (j *jittered) Forget(request reconcile.Request) {
	j.mu.Lock()
	defer j.mu.Unlock()
	delete(j.failures, request)
	j.backoff.Reset(state.RetryReconcile, request.String())
}

// NumRequeues returns how often a request failed in a row.
func (j *jittered) NumRequeues(request reconcile.Request) int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.failures[request].count
}
