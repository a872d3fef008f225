// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "kontroloop.ai/vector-sidecar-operator/internal/decision"

// resync is what a pass over a VectorSidecar is to begin with, or without.
type resync struct {
	*shared

	isResyncDue bool
	liveListed  string
	adopted     decision.Taken
}

// ResyncNext has the next pass remember no rendering and no judgement.
func (s *resync) ResyncNext() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = true
}

// IsResyncDue reports whether the next pass is to remember none of these.
func (s *resync) IsResyncDue() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.isResyncDue
}

// Resynced notes that such a pass was made.
func (s *resync) Resynced() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.isResyncDue = false
}

// LiveListed is the annotation for which the workloads of its namespace were listed live
// last, "" for none.
func (s *resync) LiveListed() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.liveListed
}

// HasLiveListed notes that they were, for an annotation.
func (s *resync) HasLiveListed(by string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.liveListed = by
}

// Adopted is the content of ConfigMaps with which the rollout was begun that is under way.
// A restart forgets it: what the ConfigMaps hold then is taken.
func (s *resync) Adopted() decision.Taken {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.adopted
}

// Adopt remembers what a decision has taken, nothing if no rollout is under way.
func (s *resync) Adopt(taken decision.Taken) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.adopted = decision.Taken{}
	if len(taken.ConfigMaps) > 0 {
		s.adopted = taken
	}
}
