// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// previousFor is how long a decision is kept. While passes follow each other closely, each has to
// evaluate only what has changed; after that the memory is worth more.
const previousFor = time.Minute

// lastDecision is what the last decision about a VectorSidecar leaves for the next.
type lastDecision struct {
	*shared

	name types.NamespacedName
}

// Previous returns what the last decision has left for the next, nil if there is nothing.
func (s *lastDecision) Previous() *decision.Previous {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry := s.previous.Get([]byte(s.name.String())); entry != nil {
		return entry.Previous
	}
	return nil
}

// SetPrevious replaces what a decision has left for the next, unless it is larger than the bound
// for all.
func (s *lastDecision) SetPrevious(results *decision.Previous) {
	bytes := 0
	if results != nil {
		bytes = results.Bytes()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetPrevious(s.name)
	if results == nil || bytes > mostPrevious {
		return
	}
	s.decisions++
	number := s.decisions
	fresh := &previous{Previous: results, number: number}
	// The timer refers to the number only: it outlasts a decision that was dropped for others.
	fresh.forget = time.AfterFunc(previousFor, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if entry := s.previous.Get([]byte(s.name.String())); entry != nil && entry.number == number { // It may have been replaced since.
			s.forgetPrevious(s.name)
		}
	})
	s.previous.Put(s.name.String(), fresh, bytes)
}
