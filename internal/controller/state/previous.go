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

// mostPrevious bounds the size of the stored results of all VectorSidecars, in bytes. It fits a container with the
// chart's memory limit.
const mostPrevious = 16 << 20

// previous is the result of one decision for the next decision, with the timer that drops it.
type previous struct {
	results *decision.Previous
	// number identifies the entry among earlier and later entries of the VectorSidecar.
	number int64
	forget *time.Timer
}

// Previous returns the stored results of the last decision, nil if none are stored.
func (s *Sidecar) Previous() *decision.Previous {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if entry := s.memory.previous.Get([]byte(s.name.String())); entry != nil {
		return entry.results
	}
	return nil
}

// SetPrevious replaces the stored results. It stores nothing if the results are larger than the bound for all
// VectorSidecars.
func (s *Sidecar) SetPrevious(results *decision.Previous) {
	bytes := 0
	if results != nil {
		bytes = results.Bytes()
	}
	m := s.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetPrevious(s.name)
	if results == nil || bytes > mostPrevious {
		return
	}
	m.decisions++
	number := m.decisions
	fresh := &previous{results: results, number: number}
	// The timer uses the number because the entry may be evicted and replaced before the timer fires.
	fresh.forget = time.AfterFunc(previousFor, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		if entry := m.previous.Get([]byte(s.name.String())); entry != nil && entry.number == number { // A later decision may have replaced the entry.
			m.forgetPrevious(s.name)
		}
	})
	m.previous.Put(s.name.String(), fresh, bytes)
}

// forgetPrevious drops the stored results of a VectorSidecar and stops their timer. The caller holds the lock.
func (m *Memory) forgetPrevious(name types.NamespacedName) {
	if entry := m.previous.Get([]byte(name.String())); entry != nil {
		entry.forget.Stop()
		m.previous.Drop(name.String())
	}
}
