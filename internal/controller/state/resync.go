// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "kontroloop.ai/vector-sidecar-operator/internal/decision"

// ResyncNext makes the next reconcile ignore earlier renderings and evaluations.
func (s *Sidecar) ResyncNext() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = true
}

// IsResyncDue reports whether the next reconcile must ignore earlier renderings and evaluations.
func (s *Sidecar) IsResyncDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isResyncDue
}

// Resynced records that a reconcile without earlier renderings and evaluations finished.
func (s *Sidecar) Resynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = false
}

// Adopted returns the ConfigMap content that the rollout in progress started with. A restart loses it; then the current
// content is used.
func (s *Sidecar) Adopted() decision.Adopted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adopted
}

// Adopt stores the ConfigMap content that a decision uses for the rollout in progress. Without such content it stores
// the zero value.
func (s *Sidecar) Adopt(adopted decision.Adopted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopted = decision.Adopted{}
	if len(adopted.ConfigMaps) > 0 {
		s.adopted = adopted
	}
}
