// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// mostPrevious is how many bytes the last decisions on all VectorSidecars may take. It is
// for a container with the memory that the chart gives it.
const mostPrevious = 16 << 20

// previousFor is how long a decision is remembered. While passes come one soon after the
// other, each has to look at what has changed alone; afterwards the memory is worth
// more.
const previousFor = time.Minute

// previous is what one decision has left for the next, and what forgets it.
type previous struct {
	*decision.Previous

	forget *time.Timer
}

// Previous is what the last decision has left for the next, nil for nothing.
func (s *Sidecar) Previous() *decision.Previous {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if held := s.memory.previous.Get([]byte(s.name.String())); held != nil {
		return held.Previous
	}
	return nil
}

// SetPrevious remembers what a decision has left, in place of the one before, unless it
// takes more than all may.
func (s *Sidecar) SetPrevious(of *decision.Previous) {
	bytes := 0
	if of != nil {
		bytes = of.Bytes()
	}
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	s.memory.forgetPrevious(s.name)
	if of == nil || bytes > mostPrevious {
		return
	}
	fresh := &previous{Previous: of}
	fresh.forget = time.AfterFunc(previousFor, func() {
		s.memory.mu.Lock()
		defer s.memory.mu.Unlock()
		if s.memory.previous.Get([]byte(s.name.String())) == fresh { // Another one may have come since.
			s.memory.forgetPrevious(s.name)
		}
	})
	s.memory.previous.Put(s.name.String(), fresh, bytes)
}

// forgetPrevious is for who holds the lock.
func (m *Memory) forgetPrevious(of types.NamespacedName) {
	if held := m.previous.Get([]byte(of.String())); held != nil {
		held.forget.Stop()
		m.previous.Drop(of.String())
	}
}
