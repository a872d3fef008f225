// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/internal/pace"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// defaultConcurrent is spec.rollout.maxConcurrent when it is not given.
const defaultConcurrent = 5

// markInFlight notes in a plan whether a rollout that we started has not finished. A
// workload that carries the current sidecar and is rolling out counts too: after a
// restart nothing else tells that we started it.
func (s *Snapshot) markInFlight(p *plan.Plan) {
	if p.Halted {
		return
	}
	var written int64
	if s.Started != nil {
		written = s.Started(p.Target.UID)
	}
	isCurrent := p.IsCurrent() && p.Desired != nil
	switch {
	case p.Generation < written: // The cache is behind.
		p.InFlight = true
	case written > 0 || isCurrent:
		p.InFlight = p.Rollout == workload.RolloutProgressing
	}
}

// limitOf reads spec.rollout. Deleting a VectorSidecar overrides a pause: its
// finalizer must not wait for ever.
func limitOf(snapshot *Snapshot, matched int) pace.Limit {
	limit := pace.Limit{Max: defaultConcurrent}
	rollout := snapshot.Sidecar.Spec.Rollout
	if rollout == nil {
		return limit
	}
	limit.Paused = rollout.Paused && snapshot.Sidecar.DeletionTimestamp == nil
	if rollout.MaxConcurrent == nil {
		return limit
	}
	if rollout.MaxConcurrent.Type == intstr.String && rollout.MaxConcurrent.StrVal == "100%" {
		limit.Max = 0
		return limit
	}
	// The CRD lets nothing else through than numbers and percentages.
	if scaled, err := intstr.GetScaledValueFromIntOrPercent(rollout.MaxConcurrent, matched, true); err == nil {
		limit.Max = max(1, scaled)
	}
	return limit
}
