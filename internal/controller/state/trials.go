// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
)

// firstTrial is the first wait before the API server is asked again about what it has refused.
const firstTrial = time.Minute

// trials are the verdicts of dry runs on a VectorSidecar's sidecars.
type trials struct {
	*shared

	byShape map[preflight.Key]tried
	// forgotten are the requests for which they were forgotten, by the annotation.
	forgotten map[string]string
}

// tried is a verdict, and how long it holds, 0 for ever.
type tried struct {
	preflight.DryRunResult

	wait time.Duration
}

// Trials returns the verdicts that hold now, nil if there are none.
func (s *trials) Trials() map[preflight.Key]preflight.DryRunResult {
	s.mu.Lock()
	defer s.mu.Unlock()
	var results map[preflight.Key]preflight.DryRunResult
	for key, entry := range s.byShape {
		if entry.wait > 0 && !s.now().Before(entry.Expiry) {
			continue
		}
		if results == nil {
			results = make(map[preflight.Key]preflight.DryRunResult, len(s.byShape))
		}
		results[key] = entry.DryRunResult
	}
	return results
}

// SetTrial records the verdict on a plan and all like it.
func (s *trials) SetTrial(p *plan.Plan, verdict preflight.DryRunResult) {
	key := preflight.NewKey(p)
	if verdict.IsWorkloadSpecific {
		key = preflight.NewWorkloadKey(p)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	wait := time.Duration(0)
	switch previous := s.byShape[key]; {
	case verdict.Result == preflight.NotJudged:
		wait = LastRetry
	case verdict.IsRejected() && previous.IsRejected():
		wait = NextWait(previous.wait, firstTrial, LastRetry)
	case verdict.IsRejected():
		wait = firstTrial
	}
	if wait > 0 {
		verdict.Expiry = s.now().Add(wait)
	}
	s.byShape[key] = tried{verdict, wait}
}

// KeepTrials drops the verdicts that concern none of the plans: so there are no more of them than
// workloads, however often somebody changes what pods need.
func (s *trials) KeepTrials(plans []plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byShape) == 0 {
		return
	}
	entries := make(map[preflight.Key]tried, len(s.byShape))
	for i := range plans {
		for _, key := range []preflight.Key{preflight.NewKey(&plans[i]), preflight.NewWorkloadKey(&plans[i])} {
			if entry, ok := s.byShape[key]; ok {
				entries[key] = entry
			}
		}
	}
	s.byShape = entries
}

// ForgetTrials drops the verdicts because a person requests that by an annotation: once for each value
// of it, however many passes it takes to answer it. It reports whether it did.
func (s *trials) ForgetTrials(annotation, request string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgotten[annotation] == request {
		return false
	}
	s.forgotten[annotation] = request
	clear(s.byShape)
	return true
}
