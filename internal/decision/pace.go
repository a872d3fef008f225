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

// pace marks what is in flight and what has to wait.
func (d *Decision) pace(snapshot *Snapshot, matched []*workload.View) {
	views := map[string]*workload.View{}
	for _, view := range matched {
		views[view.Name] = view
	}
	for i := range d.Plans {
		if view, ok := views[d.Plans[i].Target.Name]; ok {
			snapshot.isInFlight(&d.Plans[i], view)
		}
	}
	d.Limit = limitOf(snapshot, d.Matched)
	pace.Admit(d.Plans, d.Limit)
}

// isInFlight tells, and notes in the plan, whether a rollout that we started has
// not finished. A workload that carries the current sidecar and is rolling out
// counts too: after a restart nothing else tells that we started it.
func (s *Snapshot) isInFlight(p *plan.Plan, view *workload.View) bool {
	generation, started := s.Started[view.UID]
	isCurrent := p.Action == plan.None && p.Desired != nil
	switch {
	case view.Paused || view.Deleting:
	case started && view.Generation < generation: // The cache is behind.
		p.InFlight = true
	case started || isCurrent:
		p.InFlight = view.Rollout == workload.RolloutProgressing
	}
	return p.InFlight
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
