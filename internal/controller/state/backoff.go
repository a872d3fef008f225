// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/flowcontrol"
)

// FirstRetry and LastRetry are the first and the longest wait before a failed operation is retried.
const (
	FirstRetry = time.Second
	LastRetry  = 5 * time.Minute
)

// Retry is a kind of operation that is retried after a failure. Each wait is twice as long as the one before.
type Retry struct {
	name           string
	first, longest time.Duration
}

const (
	// firstDryRunRetry is the first wait after a rejected dry run.
	firstDryRunRetry = time.Minute
	// firstPause and lastPause are the first and the longest pause of corrections that another client reverts.
	firstPause, lastPause = 10 * time.Minute, 6 * time.Hour
)

var (
	// RetryReconcile is for reconciles that failed.
	RetryReconcile = Retry{"reconcile", FirstRetry, LastRetry}
	// RetryConflict is for conflicts of a reconcile with an object other than a workload.
	RetryConflict = Retry{"conflict", FirstConflict, LastRetry}
	// RetryRevision is for requests about stored revisions.
	RetryRevision = Retry{"revision", FirstRetry, LastRetry}
	// RetryLeftovers is for cleanups of leftovers.
	RetryLeftovers = Retry{"leftovers", 10 * time.Second, LastRetry}
	// RetryDeclared is for objects that the installation's values declare and that are not applied.
	RetryDeclared = Retry{"declared", FirstRetry, LastRetry}
	// retryStaleWrite is for writes of a workload that had changed after the plan was made.
	retryStaleWrite = Retry{"stale write", FirstRetry, LastRetry}
	// retryDryRun is for dry runs that were rejected.
	retryDryRun = Retry{"dry run", firstDryRunRetry, LastRetry}
	// retryCorrection is for corrections that another writer keeps reverting.
	retryCorrection = Retry{"correction", firstPause, lastPause}
)

// Backoff stores the last wait of each operation that fails, by its kind and key. It is safe for concurrent use.
type Backoff struct {
	// byRetry has the waits of the failed operations, by the kind of operation.
	byRetry map[Retry]*flowcontrol.Backoff
}

// NewBackoff returns a Backoff without failures.
func NewBackoff() *Backoff {
	b := &Backoff{byRetry: make(map[Retry]*flowcontrol.Backoff)}
	for _, retry := range []Retry{RetryReconcile, RetryConflict, RetryRevision, RetryLeftovers, RetryDeclared, retryStaleWrite, retryDryRun, retryCorrection} {
		b.byRetry[retry] = flowcontrol.NewBackOff(retry.first, retry.longest)
		// Only a success ends the backoff. The default is twice the longest wait.
		b.byRetry[retry].HasExpiredFunc = func(time.Time, time.Time, time.Duration) bool { return false }
	}
	return b
}

// Next records a failure and returns the wait before the next attempt.
func (b *Backoff) Next(retry Retry, key string) time.Duration {
	b.byRetry[retry].Next(key, time.Time{}) // The time is used only for the expiry.
	return b.byRetry[retry].Get(key)
}

// Last returns the wait that the last failure caused, or 0 after a success.
func (b *Backoff) Last(retry Retry, key string) time.Duration { return b.byRetry[retry].Get(key) }

// Reset records a success: the next failure has the first wait.
func (b *Backoff) Reset(retry Retry, key string) { b.byRetry[retry].Reset(key) }

// AtOnce is the wait of an immediate requeue, because 0 means never.
const AtOnce = time.Millisecond

// FirstConflict is the first wait after a conflict on an object other than a workload. Such a conflict has two usual
// causes: another client wrote the object, or the cache does not show the operator's write yet. After mostConflicts
// conflicts in a row, which take about ten seconds, the cause must be another one, so conflicts count as errors.
const (
	FirstConflict = 50 * time.Millisecond
	mostConflicts = 8
)

// IsConflictTransient reports whether a retry is expected to succeed, because the request had fewer than
// mostConflicts conflicts in a row.
func (m *Memory) IsConflictTransient(request types.NamespacedName) bool {
	return m.Backoff.Last(RetryConflict, request.String()) < FirstConflict<<(mostConflicts-1)
}

// RecordConflict records a conflict of a reconcile and returns the wait before the retry. If an event has started the
// reconcile before the previous wait has ended, the conflict does not count.
func (m *Memory) RecordConflict(request types.NamespacedName) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	now := m.now()
	if remaining := m.afterConflict[request].Sub(now); remaining > 0 {
		return min(remaining, m.Backoff.Last(RetryConflict, request.String())) // The clock may have been set back.
	}
	wait := m.Backoff.Next(RetryConflict, request.String())
	m.afterConflict[request] = now.Add(wait)
	return wait
}

// ResetConflicts resets the count of conflicts, when a request is finished or needs no more work.
func (m *Memory) ResetConflicts(request types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetConflicts(request)
}

// forgetConflicts resets the count of conflicts. The caller holds the mutex.
func (m *Memory) forgetConflicts(request types.NamespacedName) {
	delete(m.afterConflict, request)
	m.Backoff.Reset(RetryConflict, request.String())
}
