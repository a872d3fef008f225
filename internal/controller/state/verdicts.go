// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// mostVerdicts is the maximum number of check results of one VectorSidecar. An entry takes a few hundred bytes.
const mostVerdicts = 64

// dated is the result of Vector's check of a configuration, with the time when it was recorded.
type dated struct {
	decision.Verdict
	at time.Time
}

// Verdict returns the result of Vector's check of the configuration with a key. The result is pending if none is
// stored, or if the check could not run and LastRetry has passed.
func (s *Sidecar) Verdict(key string) decision.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	entry := s.verdicts[key]
	if entry.State == decision.VerdictUnable && s.memory.now().Sub(entry.at) >= LastRetry {
		return decision.Verdict{}
	}
	return entry.Verdict
}

// SetVerdict records the result of Vector's check of the configuration with a key.
func (s *Sidecar) SetVerdict(key string, verdict decision.Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.verdicts) >= mostVerdicts {
		for old := range s.verdicts {
			delete(s.verdicts, old) // Any entry will do, because Vector checks a configuration again when needed.
			break
		}
	}
	s.verdicts[key] = dated{verdict, s.memory.now()}
}
