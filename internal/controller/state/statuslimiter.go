// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"golang.org/x/time/rate"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// A status is written at most this often: twice at once, so that a change and its result both show,
// and then once in this time. During a rollout each pass could have new counts.
const (
	statusInterval = time.Second
	statusBurst    = 2
)

// statusLimiter holds back a status that is written too often, and knows what was written last.
type statusLimiter struct {
	*shared

	limiter *rate.Limiter
	// changed is true if a workload was written to since.
	changed bool
	// written is the last status written, and version the resource version after it, until the
	// cache shows a later one: the same one may be what a pass has in hand, and the cache behind.
	written *v1alpha1.VectorSidecarStatus
	version string
	// isUnknown is true if the last write had no answer: the present status may be the one of the
	// cache or the one written.
	isUnknown bool
	// rollout is that of a status that was held back: a rollout that begins and ends in between has
	// begun all the same. nil if none was.
	rollout *v1alpha1.RolloutStatus
	// unreleased is why the finalizer of what is being deleted could not be removed last, or what is left behind
	// could not be cleaned up. nil if it was not tried, or waits.
	unreleased error
}

func newStatusLimiter(shared *shared) statusLimiter {
	return statusLimiter{shared: shared, limiter: rate.NewLimiter(rate.Every(statusInterval), statusBurst)}
}

// HasChanged reports whether a workload was written to, in this pass or in one whose status was
// held back.
func (s *statusLimiter) HasChanged(isChanged bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changed = s.changed || isChanged
	return s.changed
}

// StatusWritten records the VectorSidecar after a write of its status.
func (s *statusLimiter) StatusWritten(sidecar *v1alpha1.VectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.written, s.version, s.isUnknown, s.rollout = sidecar.Status.DeepCopy(), sidecar.ResourceVersion, false, nil
}

// HoldBack records what a status that was held back says of the rollout.
func (s *statusLimiter) HoldBack(rollout *v1alpha1.RolloutStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.rollout = rollout.DeepCopy()
}

// Rollout returns what is known of the VectorSidecar's rollout: what its present status says,
// unless a later one was held back. nil is nothing.
func (s *statusLimiter) Rollout(status *v1alpha1.VectorSidecarStatus) *v1alpha1.RolloutStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.rollout != nil {
		return s.rollout.DeepCopy()
	}
	return status.Rollout
}

// SetUnreleased records why a VectorSidecar that is being deleted could not be released, nil if nothing is wrong.
func (s *statusLimiter) SetUnreleased(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unreleased = cause
}

// Unreleased returns what was recorded last.
func (s *statusLimiter) Unreleased() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.unreleased
}

// StatusFailed records that a write of the status had no answer or an error.
func (s *statusLimiter) StatusFailed() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isUnknown = true
}

// IsStatusUnknown reports whether the VectorSidecar's present status is unknown.
func (s *statusLimiter) IsStatusUnknown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isUnknown
}

// Status returns the VectorSidecar's present status: its own, or the one written last if the cache
// does not show that yet. Compared with the stale one, a status that goes back to it would seem to
// be written already.
func (s *statusLimiter) Status(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecarStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if sidecar.Cluster != nil && s.written != nil { // What other namespaces have found comes with it.
		status := s.written.DeepCopy()
		status.RemovedByOwners = decision.MergeTakenOut(status.RemovedByOwners, sidecar.Status.RemovedByOwners)
		status.LastKnownGood, status.Reverted = sidecar.Status.LastKnownGood, sidecar.Status.Reverted
		return status
	}
	if s.written == nil || workloadcache.IsOlder(s.version, sidecar.ResourceVersion) {
		s.written = nil
		return sidecar.Status.DeepCopy()
	}
	return s.written.DeepCopy()
}

// ReserveStatus returns how long the status write has to wait. 0 means that it may be done now; it
// then counts as done.
func (s *statusLimiter) ReserveStatus() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	reserved := s.limiter.ReserveN(now, 1)
	if remaining := reserved.DelayFrom(now); remaining > 0 {
		reserved.CancelAt(now)
		return remaining
	}
	s.changed = false
	return 0
}
