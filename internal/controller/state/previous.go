// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// previousFor is how long a decision is remembered. While passes come one soon after the
// other, each has to look at what has changed alone; afterwards the memory is worth
// more.
const previousFor = time.Minute

// lastDecision is what the last decision about a VectorSidecar has left.
type lastDecision struct {
	*shared

	name types.NamespacedName
}

// Previous is what the last decision has left for the next, nil for nothing.
func (s *lastDecision) Previous() *decision.Previous {
	s.mu.Lock()
	defer s.mu.Unlock()
	if held := s.previous.Get([]byte(s.name.String())); held != nil {
		return held.Previous
	}
	return nil
}

// SetPrevious remembers what a decision has left, in place of the one before, unless it
// takes more than all may.
func (s *lastDecision) SetPrevious(of *decision.Previous) {
	bytes := 0
	if of != nil {
		bytes = of.Bytes()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetPrevious(s.name)
	if of == nil || bytes > mostPrevious {
		return
	}
	fresh := &previous{Previous: of}
	fresh.forget = time.AfterFunc(previousFor, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.previous.Get([]byte(s.name.String())) == fresh { // Another one may have come since.
			s.forgetPrevious(s.name)
		}
	})
	s.previous.Put(s.name.String(), fresh, bytes)
}
