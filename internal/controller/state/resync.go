// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "kontroloop.ai/vector-sidecar-operator/internal/decision"

// resync records how the next reconcile of a VectorSidecar starts.
type resync struct {
	*shared

	isResyncDue bool
	adopted     decision.Adopted
}

// ResyncNext makes the next reconcile ignore earlier renderings and evaluations.
func (s *resync) ResyncNext() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = true
}

// IsResyncDue reports whether the next reconcile must ignore earlier renderings and evaluations.
func (s *resync) IsResyncDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isResyncDue
}

// Resynced records that a reconcile without earlier renderings and evaluations finished.
func (s *resync) Resynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = false
}

// Adopted returns the ConfigMap content that the rollout in progress started with. A restart loses it; then the current
// content is used.
func (s *resync) Adopted() decision.Adopted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adopted
}

// Adopt stores the ConfigMap content that a decision uses for the rollout in progress. Without such content it stores
// the zero value.
func (s *resync) Adopt(adopted decision.Adopted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopted = decision.Adopted{}
	if len(adopted.ConfigMaps) > 0 {
		s.adopted = adopted
	}
}
