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
)

// corrections counts the writes of the same sidecar to one workload. If another client keeps reverting them, further
// corrections are paused. After a pause, one more correction shows whether the other client has stopped.
type corrections struct {
	// injected is the hash of the sidecar. writes are the times of its writes within loopWindow. until is the end of
	// the last pause, and undone the number of reverted writes before it.
	injected string
	writes   []time.Time
	until    time.Time
	undone   int
}

// RecordInjection records that the sidecar with a hash was written to a workload. It reports whether the same sidecar
// was written to the workload before. Another hash resets the count of writes.
func (s *Sidecar) RecordInjection(target types.UID, hash string) (isRepeated bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.pendingWrite(target)
	r := pending.corrections
	isRepeated = r != nil && r.injected == hash
	if !isRepeated {
		r = &corrections{injected: hash}
		pending.corrections = r
		s.memory.Backoff.Reset(retryCorrection, s.attemptKey(target))
	}
	now := s.memory.now()
	r.writes = slices.DeleteFunc(r.writes, func(timestamp time.Time) bool { return now.Sub(timestamp) >= loopWindow })
	r.writes = append(r.writes, now)
	if len(r.writes) >= loopWrites || s.memory.Backoff.Last(retryCorrection, s.attemptKey(target)) > 0 && now.Sub(r.until) < loopWindow {
		r.undone += len(r.writes)
		r.until = now.Add(s.memory.Backoff.Next(retryCorrection, s.attemptKey(target)))
		r.writes = nil
	}
	return isRepeated
}

// CorrectionLoops returns the workloads with paused corrections and the time until the first pause ends. The time is 0
// if no workload is paused.
func (s *Sidecar) CorrectionLoops() (loops map[types.UID]decision.CorrectionLoop, wait time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.memory.now()
	for target, pending := range s.writes {
		if pending.corrections == nil || !now.Before(pending.corrections.until) {
			continue
		}
		if loops == nil {
			loops = map[types.UID]decision.CorrectionLoop{}
		}
		remaining := pending.corrections.until.Sub(now)
		loops[target] = decision.CorrectionLoop{InjectedHash: pending.corrections.injected, Writes: pending.corrections.undone}
		if wait == 0 || remaining < wait {
			wait = remaining
		}
	}
	return loops, wait
}
