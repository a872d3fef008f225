// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "kontroloop.ai/vector-sidecar-operator/internal/decision"

// resync says how the next pass over a VectorSidecar is to start.
type resync struct {
	*shared

	isResyncDue bool
	adopted     decision.Adopted
}

// ResyncNext makes the next pass use no earlier rendering or evaluation.
func (s *resync) ResyncNext() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = true
}

// IsResyncDue reports whether the next pass is to use none of these.
func (s *resync) IsResyncDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isResyncDue
}

// Resynced records that such a pass was made.
func (s *resync) Resynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = false
}

// Adopted returns the content of ConfigMaps with which the rollout in progress began. It is lost on
// restart: the present content is used then.
func (s *resync) Adopted() decision.Adopted {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adopted
}

// Adopt records what a decision has adopted, nothing if no rollout is in progress.
func (s *resync) Adopt(adopted decision.Adopted) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopted = decision.Adopted{}
	if len(adopted.ConfigMaps) > 0 {
		s.adopted = adopted
	}
}
