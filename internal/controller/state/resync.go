// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "kontroloop.ai/vector-sidecar-operator/internal/decision"

// RequestResync makes the next reconcile ignore earlier renderings and evaluations.
func (s *Sidecar) RequestResync() {
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

// MarkResynced records that the requested reconcile without earlier renderings and evaluations has finished.
func (s *Sidecar) MarkResynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = false
}

// AdoptedContent returns the ConfigMap content that the rollout in progress started with, or the zero value. A
// restart of the operator loses the content; the current content then counts.
func (s *Sidecar) AdoptedContent() decision.Adopted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adopted
}

// SetAdoptedContent stores the ConfigMap content that the rollout in progress started with. The zero value means that
// there is none.
func (s *Sidecar) SetAdoptedContent(adopted decision.Adopted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopted = decision.Adopted{}
	if len(adopted.ConfigMaps) > 0 {
		s.adopted = adopted
	}
}
