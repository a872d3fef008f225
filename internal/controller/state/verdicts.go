// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// mostVerdicts bounds what is remembered of one VectorSidecar. An entry is a few hundred
// bytes.
const mostVerdicts = 64

// dated is what Vector said of a configuration, and when.
type dated struct {
	decision.Verdict
	at time.Time
}

// verdicts are what Vector said of the configurations of a VectorSidecar, by their keys.
type verdicts struct {
	*shared

	byKey map[string]dated
}

// Verdict is what Vector said of a configuration, by its key. It is pending as long as there
// is none. That Vector could not be asked is forgotten after some time.
func (s *verdicts) Verdict(key string) decision.Verdict {
	s.mu.Lock()
	defer s.mu.Unlock()
	found := s.byKey[key]
	if found.State == decision.VerdictUnable && s.now().Sub(found.at) >= LastRetry {
		return decision.Verdict{}
	}
	return found.Verdict
}

// SetVerdict remembers what Vector said.
func (s *verdicts) SetVerdict(key string, verdict decision.Verdict) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byKey) >= mostVerdicts {
		for old := range s.byKey {
			delete(s.byKey, old) // Any one: Vector is asked anew when needed.
			break
		}
	}
	s.byKey[key] = dated{verdict, s.now()}
}
