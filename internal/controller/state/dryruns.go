// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// DryRuns returns the valid dry-run results, nil if none are valid.
func (s *Sidecar) DryRuns() map[preflight.Key]preflight.DryRunResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	var results map[preflight.Key]preflight.DryRunResult
	for key, entry := range s.trials {
		if !entry.Expiry.IsZero() && !s.memory.now().Before(entry.Expiry) {
			continue
		}
		if results == nil {
			results = make(map[preflight.Key]preflight.DryRunResult, len(s.trials))
		}
		results[key] = entry
	}
	return results
}

// SetDryRun records the dry-run result of a plan. It applies to all plans with the same key.
func (s *Sidecar) SetDryRun(p *plan.Plan, verdict preflight.DryRunResult) {
	key := preflight.NewKey(p)
	if verdict.IsWorkloadSpecific {
		key = preflight.NewWorkloadKey(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Duration(0)
	if verdict.IsRejected() {
		wait = s.memory.Backoff.Next(retryDryRun, s.dryRunKey(key))
	} else {
		s.memory.Backoff.Reset(retryDryRun, s.dryRunKey(key))
	}
	if verdict.Result == preflight.Inconclusive {
		wait = LastRetry
	}
	if wait > 0 {
		verdict.Expiry = s.memory.now().Add(wait)
	}
	s.trials[key] = verdict
}

// dryRunKey returns the key of a dry run in Memory.Backoff.
func (s *Sidecar) dryRunKey(key preflight.Key) string { return fmt.Sprintf("%s/%v", s.name, key) }

// KeepDryRuns drops the dry-run results that apply to none of the plans. Their number is then limited by the number
// of workloads, however often users change the requirements of pods.
func (s *Sidecar) KeepDryRuns(plans []plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.trials) == 0 {
		return
	}
	entries := make(map[preflight.Key]preflight.DryRunResult, len(s.trials))
	for i := range plans {
		for _, key := range []preflight.Key{preflight.NewKey(&plans[i]), preflight.NewWorkloadKey(&plans[i])} {
			if entry, ok := s.trials[key]; ok {
				entries[key] = entry
			}
		}
	}
	for key := range s.trials {
		if _, ok := entries[key]; !ok {
			s.memory.Backoff.Reset(retryDryRun, s.dryRunKey(key))
		}
	}
	s.trials = entries
}

// clearDryRunResults drops all dry-run results and their backoffs. The caller holds the mutex.
func (s *Sidecar) clearDryRunResults() {
	for key := range s.trials {
		s.memory.Backoff.Reset(retryDryRun, s.dryRunKey(key))
	}
	clear(s.trials)
}

// ForgetDryRuns drops the dry-run results when a user requests that with an annotation, once for each value of the
// annotation. It reports whether it has dropped them.
func (s *Sidecar) ForgetDryRuns(annotation, request string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgottenTrials[annotation] == request {
		return false
	}
	s.forgottenTrials[annotation] = request
	s.clearDryRunResults()
	return true
}
