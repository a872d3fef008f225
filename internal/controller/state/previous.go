// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// previousFor is how long a decision is kept. Frequent reconciles use it to evaluate only changed workloads. After that
// time the memory is worth more than the saved evaluation.
const previousFor = time.Minute

// lastDecision stores the results that the last decision about a VectorSidecar provides for the next decision.
type lastDecision struct {
	*shared

	name types.NamespacedName
}

// Previous returns the stored results of the last decision, nil if none are stored.
func (s *lastDecision) Previous() *decision.Previous {
	s.mu.Lock()
	defer s.mu.Unlock()
	if entry := s.previous.Get([]byte(s.name.String())); entry != nil {
		return entry.Previous
	}
	return nil
}

// SetPrevious replaces the stored results. It stores nothing if the results are larger than the bound for all
// VectorSidecars.
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
	// The timer uses the number because the entry may be evicted and replaced before the timer fires.
	fresh.forget = time.AfterFunc(previousFor, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if entry := s.previous.Get([]byte(s.name.String())); entry != nil && entry.number == number { // A later decision may have replaced the entry.
			s.forgetPrevious(s.name)
		}
	})
	s.previous.Put(s.name.String(), fresh, bytes)
}
