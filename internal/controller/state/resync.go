// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

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

// mostAdopted is the maximum size in bytes of the stored ConfigMap content of all rollouts in progress. A tenant may start
// many rollouts with ConfigMaps of 1 MiB.
const mostAdopted = 16 << 20

// AdoptedContent returns the ConfigMap content that the rollout in progress started with, or the zero value. A
// restart of the operator loses the content, and so does content of other rollouts above mostAdopted; the current content
// then counts.
func (s *Sidecar) AdoptedContent() decision.Adopted {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	return s.memory.adopted.Get([]byte(s.name.String()))
}

// SetAdoptedContent stores the ConfigMap content that the rollout in progress started with. The zero value means that
// there is none.
func (s *Sidecar) SetAdoptedContent(adopted decision.Adopted) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.adopted.Drop(s.name.String())
	if len(adopted.ConfigMaps) > 0 {
		s.memory.adopted.Put(s.name.String(), adopted, bounded.Footprint(adopted.ConfigMaps))
	}
}
