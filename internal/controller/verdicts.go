// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"sync"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
)

// rememberedVerdicts bounds what is remembered. An entry is a few hundred bytes.
const rememberedVerdicts = 4096

// verdicts remembers what Vector said, by the key of the configuration. That it
// could not be asked is forgotten after some time.
type verdicts struct {
	mu    sync.Mutex
	now   func() time.Time
	known map[string]dated
}

type dated struct {
	decision.Verdict
	at time.Time
}

func newVerdicts(now func() time.Time) *verdicts {
	return &verdicts{now: now, known: map[string]dated{}}
}

// of returns a verdict, which is pending as long as there is none.
func (v *verdicts) of(key string) decision.Verdict {
	v.mu.Lock()
	defer v.mu.Unlock()
	found := v.known[key]
	if found.State == decision.VerdictUnable && v.now().Sub(found.at) >= lastRetry {
		return decision.Verdict{}
	}
	return found.Verdict
}

func (v *verdicts) remember(key string, verdict decision.Verdict) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= rememberedVerdicts {
		for old := range v.known {
			delete(v.known, old) // Any one: Vector is asked anew when needed.
			break
		}
	}
	v.known[key] = dated{verdict, v.now()}
}
