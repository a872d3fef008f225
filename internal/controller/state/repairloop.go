// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// A workload is in a correction loop with another writer if it gets the same sidecar loopWrites times within
// loopWindow: one injection and three corrections.
const (
	loopWrites = 4
	loopWindow = 10 * time.Minute
	// firstBreak is the first pause. Each further pause is twice as long, up to lastBreak.
	firstBreak = 10 * time.Minute
	lastBreak  = 6 * time.Hour
)

// Injected records that the sidecar with a hash was written to a workload. It reports whether the same sidecar was
// written before. Another hash resets the count.
func (s *expectations) Injected(target types.UID, hash string) (isRepeated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expectation := s.expect(target)
	r := expectation.repairs
	isRepeated = r != nil && r.injected == hash
	if !isRepeated {
		r = &repairs{injected: hash}
		expectation.repairs = r
	}
	now := s.now()
	r.writes = slices.DeleteFunc(r.writes, func(timestamp time.Time) bool { return now.Sub(timestamp) >= loopWindow })
	r.writes = append(r.writes, now)
	if len(r.writes) >= loopWrites || r.breaks > 0 && now.Sub(r.until) < loopWindow {
		r.undone += len(r.writes)
		r.until = now.Add(min(firstBreak<<min(r.breaks, 10), lastBreak))
		r.breaks++
		r.writes = nil
	}
	return isRepeated
}

// Loops returns the workloads with paused corrections and the time until the first pause ends. The time is 0 if no
// workload is paused.
func (s *expectations) Loops() (loops map[types.UID]decision.CorrectionLoop, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for target, expectation := range s.all {
		if expectation.repairs == nil || !now.Before(expectation.until) {
			continue
		}
		if loops == nil {
			loops = map[types.UID]decision.CorrectionLoop{}
		}
		remaining := expectation.until.Sub(now)
		loops[target] = decision.CorrectionLoop{InjectedHash: expectation.injected, Writes: expectation.undone}
		if wait == 0 || remaining < wait {
			wait = remaining
		}
	}
	return loops, wait
}
