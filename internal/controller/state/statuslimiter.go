// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"golang.org/x/time/rate"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// A status is written at most this often. The burst of two writes shows a change and its result. After that, one
// status is written per interval, because during a rollout the counts may change with each reconcile.
const (
	// statusInterval is the minimum interval between two writes of a status, and statusBurst the number of writes
	// that may be made without it. Two writes show a change and its result. During a rollout, the counts may change
	// with each reconcile.
	statusInterval = time.Second
	statusBurst    = 2
)

// statusLimiter delays status writes that are too frequent. It also has the last written status.
type statusLimiter struct {
	limiter *rate.Limiter
	// changed is true if a workload was written after the last status write.
	changed bool
	written workloadcache.LastWrite[v1alpha1.VectorSidecarStatus]
	// omittedAt is the resource version of the last write if written omits its large last known good spec, otherwise "".
	omittedAt string
	// isUnknown is true if the API server did not confirm the last write. The current status is then either the cached
	// or the written one.
	isUnknown bool
	// rollout is the rollout status of the last reconcile, nil if it is written or there is none. It keeps a rollout
	// that starts and finishes between two status writes.
	rollout *v1alpha1.RolloutStatus
	// unreleased is the error of the last attempt to clean up after a deleted VectorSidecar or to remove its finalizer.
	// It is nil if no attempt was made or if the cleanup waits.
	unreleased error
}

// newStatusLimiter returns a limiter that allows statusBurst writes at once.
func newStatusLimiter() statusLimiter {
	return statusLimiter{limiter: rate.NewLimiter(rate.Every(statusInterval), statusBurst)}
}

// MarkChanged records whether a workload was written in this reconcile. It returns true if a workload was written
// since the last status write.
func (s *Sidecar) MarkChanged(isChanged bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.changed = s.status.changed || isChanged
	return s.status.changed
}

// mostLastGood is the maximum size in bytes of a last known good spec in a recorded status. The state keeps a status for
// as long as the VectorSidecar does not change.
const mostLastGood = 16 << 10

// MarkStatusWritten records the status and the resource version after a status write.
func (s *Sidecar) MarkStatusWritten(sidecar *v1alpha1.VectorSidecar) {
	s.mu.Lock()
	defer s.mu.Unlock()
	written := sidecar.Status
	s.status.omittedAt = ""
	if good := written.LastKnownGood; good != nil && len(good.Spec) > mostLastGood {
		s.status.omittedAt, written.LastKnownGood = sidecar.ResourceVersion, nil
	}
	s.status.written.Set(sidecar, written.DeepCopy())
	s.status.isUnknown, s.status.rollout = false, nil
}

// SetRollout records the rollout status of a reconcile before it is written.
func (s *Sidecar) SetRollout(rollout *v1alpha1.RolloutStatus) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.rollout = rollout.DeepCopy()
}

// Rollout returns the rollout status of the VectorSidecar: the recorded one if it is not written yet, otherwise the one
// in status. It is nil for none.
func (s *Sidecar) Rollout(status *v1alpha1.VectorSidecarStatus) *v1alpha1.RolloutStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.rollout != nil {
		return s.status.rollout.DeepCopy()
	}
	return status.Rollout
}

// Rollout returns the current rollout status of a VectorSidecar in the cache, nil for none: the recorded or written one
// if the cache does not show it yet. The caller must not change it.
func (m *Memory) Rollout(sidecar *v1alpha1.VectorSidecar) *v1alpha1.RolloutStatus {
	m.mu.Lock()
	s := m.sidecars[client.ObjectKeyFromObject(sidecar)]
	m.mu.Unlock()
	if s == nil {
		return sidecar.Status.Rollout
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.status.rollout != nil {
		return s.status.rollout
	}
	if written, ok := s.status.written.Get(sidecar); ok {
		return written.Rollout
	}
	return sidecar.Status.Rollout
}

// SetFinalizerError records the error that keeps the finalizer on a deleted VectorSidecar, or nil for none.
func (s *Sidecar) SetFinalizerError(cause error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.unreleased = cause
}

// FinalizerError returns the error of the last call of SetFinalizerError.
func (s *Sidecar) FinalizerError() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.unreleased
}

// MarkStatusUnknown records that the API server did not confirm a status write.
func (s *Sidecar) MarkStatusUnknown() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status.isUnknown = true
}

// IsStatusUnknown reports whether the current status of the VectorSidecar is unknown.
func (s *Sidecar) IsStatusUnknown() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.isUnknown
}

// Status returns the current status of the VectorSidecar. It is the last written status if the cache does not show that
// status yet. Comparing a new status with the stale one could wrongly show that the new status is already written.
func (s *Sidecar) Status(sidecar *v1alpha1.VectorSidecar) *v1alpha1.VectorSidecarStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	if written := s.status.written.Value; meta.IsOfCluster(sidecar.Name) && written != nil { // The VectorSidecar has the reports of other namespaces.
		status := written.DeepCopy()
		status.RemovedByOwners = decision.MergeOwnerRemovals(status.RemovedByOwners, sidecar.Status.RemovedByOwners)
		status.LastKnownGood, status.Reverted = sidecar.Status.LastKnownGood, sidecar.Status.Reverted
		return status
	}
	if written, ok := s.status.written.Get(sidecar); ok {
		status := written.DeepCopy()
		if s.status.omittedAt != "" {
			status.LastKnownGood = sidecar.Status.LastKnownGood
		}
		return status
	}
	return sidecar.Status.DeepCopy()
}

// LacksLastGood reports whether Status lacks the last known good spec of the last write, because the VectorSidecar is older.
func (s *Sidecar) LacksLastGood(sidecar *v1alpha1.VectorSidecar) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.status.omittedAt != "" && workloadcache.IsOlder(sidecar.ResourceVersion, s.status.omittedAt)
}

// ReserveStatus returns the wait before the next status write. If the result is 0, the caller must make the write
// now, because it counts as made.
func (s *Sidecar) ReserveStatus() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.memory.now()
	reserved := s.status.limiter.ReserveN(now, 1)
	if remaining := reserved.DelayFrom(now); remaining > 0 {
		reserved.CancelAt(now)
		return remaining
	}
	s.status.changed = false
	return 0
}
