// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// A workload that gets the same sidecar this often within this time is in a loop
// with another writer: once for the injection, and three repairs.
const (
	loopWrites = 4
	loopWindow = 10 * time.Minute
	// The first break lasts this long, each further one twice as long.
	firstBreak = 10 * time.Minute
	lastBreak  = 6 * time.Hour
)

// repairs are the writes of one sidecar to one workload. Repairs that do not last are broken
// off. After a break, one more try tells whether the other writer has stopped.
type repairs struct {
	injected string
	writes   []time.Time
	breaks   int
	until    time.Time
	undone   int
}

// Injected notes that a sidecar was written to a workload, by its hash, and reports whether
// the same was written before. Another one begins a new count.
func (s *Sidecar) Injected(target types.UID, hash string) (again bool) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	known := s.expect(target)
	r := known.repairs
	again = r != nil && r.injected == hash
	if !again {
		r = &repairs{injected: hash}
		known.repairs = r
	}
	now := s.memory.now()
	r.writes = slices.DeleteFunc(r.writes, func(at time.Time) bool { return now.Sub(at) >= loopWindow })
	r.writes = append(r.writes, now)
	if len(r.writes) >= loopWrites || r.breaks > 0 && now.Sub(r.until) < loopWindow {
		r.undone += len(r.writes)
		r.until = now.Add(min(firstBreak<<min(r.breaks, 10), lastBreak))
		r.breaks++
		r.writes = nil
	}
	return again
}

// Loops returns the workloads whose repairs are broken off, and how long to wait for the
// first of them; 0 if there are none.
func (s *Sidecar) Loops() (loops map[types.UID]decision.Loop, wait time.Duration) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	now := s.memory.now()
	for target, known := range s.expectations {
		if known.repairs == nil || !now.Before(known.until) {
			continue
		}
		if loops == nil {
			loops = map[types.UID]decision.Loop{}
		}
		left := known.until.Sub(now)
		loops[target] = decision.Loop{InjectedHash: known.injected, Writes: known.undone}
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return loops, wait
}
