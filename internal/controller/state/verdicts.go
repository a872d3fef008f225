// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// mostVerdicts bounds what is kept for one VectorSidecar. An entry takes a few hundred bytes.
const mostVerdicts = 64

// dated is Vector's verdict on a configuration, and when it came.
type dated struct {
	decision.Verdict
	at time.Time
}

// verdicts are Vector's verdicts on the configurations of a VectorSidecar, by key.
type verdicts struct {
	*shared

	byKey map[string]dated
}

// Verdict returns Vector's verdict on a configuration, by key. It is pending if there is none. A
// failure to ask Vector is dropped after some time.
func (s *verdicts) Verdict(key string) decision.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.byKey[key]
	if entry.State == decision.VerdictUnable && s.now().Sub(entry.at) >= LastRetry {
		return decision.Verdict{}
	}
	return entry.Verdict
}

// SetVerdict records Vector's verdict.
func (s *verdicts) SetVerdict(key string, verdict decision.Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byKey) >= mostVerdicts {
		for old := range s.byKey {
			delete(s.byKey, old) // Any one will do: Vector is asked again when needed.
			break
		}
	}
	s.byKey[key] = dated{verdict, s.now()}
}
