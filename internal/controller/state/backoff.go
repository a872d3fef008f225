// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// FirstRetry and LastRetry bound the backoff for what has failed.
const (
	FirstRetry = time.Second
	LastRetry  = 5 * time.Minute
)

// NextWait returns the wait that follows another one, 0 if there was none: first, and then each time twice the
// one before, up to last.
func NextWait(previous, shortest, longest time.Duration) time.Duration {
	return min(max(shortest, 2*previous), longest)
}

// FirstConflict is when to retry first after a conflict on an object other than a workload: somebody else has
// written it, or the cache does not show our own write yet. After mostConflicts in a row, which take some ten
// seconds, it is something else that answers so, and an error like any other.
const (
	FirstConflict = 50 * time.Millisecond
	mostConflicts = 8
)

// conflicts are those in a row, by request.
type conflicts struct {
	inRow int
	wait  time.Duration
	next  time.Time
}

// IsConflictTransient reports whether a retry is not expected to meet another conflict, as far as is known.
func (m *Memory) IsConflictTransient(request types.NamespacedName) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.conflicts[request].inRow < mostConflicts
}

// Conflict records a conflict. It returns when to retry: one that an event has met before that time does not count.
func (m *Memory) Conflict(request types.NamespacedName) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	backoff, now := m.conflicts[request], m.now()
	if wait := backoff.next.Sub(now); wait > 0 {
		return min(wait, backoff.wait) // The clock may have been put back.
	}
	backoff.inRow, backoff.wait = backoff.inRow+1, NextWait(backoff.wait, FirstConflict, LastRetry)
	backoff.next = now.Add(backoff.wait)
	m.conflicts[request] = backoff
	return backoff.wait
}

// NoConflict ends the row: what was asked for is done, or there is nothing left to do.
func (m *Memory) NoConflict(request types.NamespacedName) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.conflicts, request)
}
