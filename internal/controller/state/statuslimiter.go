// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"golang.org/x/time/rate"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// A status is written at most this often: twice at once, so that a change and what comes of
// it both show, and then once in this time. During a rollout each pass could tell another
// count.
const (
	statusInterval = time.Second
	statusBurst    = 2
)

// written is the status as it was written.
type written struct {
	limiter *rate.Limiter
	// changed reports whether a workload was written to since.
	changed bool
	// last is the last one, and version what the API server gave it, until the cache
	// shows it.
	last    *v1alpha1.VectorSidecarStatus
	version string
	// isUnknown reports whether the answer to the last write is: whichever status there
	// is now, it is neither that of the cache for certain nor the one written.
	isUnknown bool
}

func newWritten() written {
	return written{limiter: rate.NewLimiter(rate.Every(statusInterval), statusBurst)}
}

// HasChanged reports whether a workload was written to, in this pass or in one whose status
// was held back.
func (s *Sidecar) HasChanged(now bool) bool {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.status.changed = s.status.changed || now
	return s.status.changed
}

// StatusWritten notes the VectorSidecar as it is after its status was written.
func (s *Sidecar) StatusWritten(sidecar *v1alpha1.VectorSidecar) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.status.last, s.status.version, s.status.isUnknown = sidecar.Status.DeepCopy(), sidecar.ResourceVersion, false
}

// StatusFailed notes that a write of the status had no good answer.
func (s *Sidecar) StatusFailed() {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.status.isUnknown = true
}

// IsStatusUnknown reports whether nobody knows which status the VectorSidecar has.
func (s *Sidecar) IsStatusUnknown() bool {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.status.isUnknown
}

// Status returns the status that the VectorSidecar has: its own, or the one written last if
// the cache, which shows our writes late, is behind that. Compared with the one before, a
// status that goes back to that would seem to be written already.
func (s *Sidecar) Status(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecarStatus {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if s.status.last != nil && workloadcache.IsOlder(sidecar.ResourceVersion, s.status.version) {
		return s.status.last.DeepCopy()
	}
	s.status.last = nil
	return sidecar.Status.DeepCopy()
}

// ReserveStatus returns how long the status has to wait; 0 if it may be written now, which
// counts as done.
func (s *Sidecar) ReserveStatus() time.Duration {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	now := s.memory.now()
	reserved := s.status.limiter.ReserveN(now, 1)
	if left := reserved.DelayFrom(now); left > 0 {
		reserved.CancelAt(now)
		return left
	}
	s.status.changed = false
	return 0
}
