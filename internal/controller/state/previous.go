// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// previousFor is the time for which the evaluations of a decision are kept. Frequent reconciles use them to evaluate
// only changed workloads. After that time, the memory is worth more than the saved work.
const previousFor = time.Minute

// mostPrevious is the maximum size in bytes of the stored evaluations of all VectorSidecars. It fits a container with
// the chart's memory limit.
const mostPrevious = 16 << 20

// previous stores the evaluations of a decision for the next decision, with the timer that drops them.
type previous struct {
	results *decision.Previous
	// number identifies the entry among earlier and later entries of the VectorSidecar.
	number int64
	forget *time.Timer
}

// Previous returns the stored evaluations of the last decision, or nil for none.
func (s *Sidecar) Previous() *decision.Previous {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if entry := s.memory.previous.Get([]byte(s.name.String())); entry != nil {
		return entry.results
	}
	return nil
}

// SetPrevious replaces the stored evaluations. It stores nothing if they are larger than mostPrevious.
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

// forgetPrevious drops the stored evaluations of a VectorSidecar and stops their timer. The caller holds the mutex.
func (m *Memory) forgetPrevious(name types.NamespacedName) {
	if entry := m.previous.Get([]byte(name.String())); entry != nil {
		entry.forget.Stop()
		m.previous.Drop(name.String())
	}
}
