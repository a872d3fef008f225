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

// Verdict is what Vector said of a configuration, by its key. It is pending as long as there
// is none. That Vector could not be asked is forgotten after some time.
func (s *Sidecar) Verdict(key string) decision.Verdict {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	found := s.verdicts[key]
	if found.State == decision.VerdictUnable && s.memory.now().Sub(found.at) >= LastRetry {
		return decision.Verdict{}
	}
	return found.Verdict
}

// SetVerdict remembers what Vector said.
func (s *Sidecar) SetVerdict(key string, verdict decision.Verdict) {
	s.memory.mu.Lock()
	defer s.memory.mu.Unlock()
	if len(s.verdicts) >= mostVerdicts {
		for old := range s.verdicts {
			delete(s.verdicts, old) // Any one: Vector is asked anew when needed.
			break
		}
	}
	s.verdicts[key] = dated{verdict, s.memory.now()}
}
