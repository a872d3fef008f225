// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// FirstRetry and LastRetry are the first and the longest wait before a failed operation is retried.
const (
	FirstRetry = time.Second
	LastRetry  = 5 * time.Minute
)

// NextWait returns the wait that follows the previous one: twice as long, but within the two bounds. The previous wait
// is 0 before the first wait, so the first wait is the lower bound.
func NextWait(previous, shortest, longest time.Duration) time.Duration {
	return min(max(shortest, 2*previous), longest)
}

// FirstConflict is the first wait after a conflict on an object other than a workload. Such a conflict has two usual
// causes: another client wrote the object, or the cache does not show the operator's write yet. After mostConflicts
// conflicts in a row, which take about ten seconds, the cause must be another one, so conflicts count as errors.
const (
	FirstConflict = 50 * time.Millisecond
	mostConflicts = 8
)

// conflicts counts the consecutive conflicts of one reconcile request.
type conflicts struct {
	inRow int
	wait  time.Duration
	next  time.Time
}

// IsConflictTransient reports whether a retry is expected to succeed, because few conflicts occurred in a row.
func (m *Memory) IsConflictTransient(request types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conflicts[request].inRow < mostConflicts
}

// Conflict records a conflict and returns the wait before the retry. An event may start a reconcile before that wait
// ends; a conflict of such a reconcile does not count.
func (m *Memory) Conflict(request types.NamespacedName) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	backoff, now := m.conflicts[request], m.now()
	if wait := backoff.next.Sub(now); wait > 0 {
		return min(wait, backoff.wait) // The clock may have been set back.
	}
	backoff.inRow, backoff.wait = backoff.inRow+1, NextWait(backoff.wait, FirstConflict, LastRetry)
	backoff.next = now.Add(backoff.wait)
	m.conflicts[request] = backoff
	return backoff.wait
}

// NoConflict resets the count of conflicts. Call it when the request is finished or needs no more work.
func (m *Memory) NoConflict(request types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conflicts, request)
}
