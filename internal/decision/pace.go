// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

const (
	// defaultConcurrent is spec.rollout.maxConcurrent when it is not given.
	defaultConcurrent = 5
	// defaultSoak is spec.rollout.soak when it is not given.
	defaultSoak = 30 * time.Second
)

// soak reads spec.rollout.soak.
func (s *Snapshot) soak() time.Duration {
	if rollout := s.Sidecar.Spec.Rollout; rollout != nil && rollout.Soak != nil {
		return rollout.Soak.Duration
	}
	return defaultSoak
}

// pace notes in a plan how far the rollout of its workload is, and what is wrong with it.
func (d *Decision) pace(s *Snapshot, p *plan.Plan) {
	if !p.Halted {
		s.markInFlight(p)
	}
	switch {
	case p.Desired != nil && p.IsCurrent():
		d.judgeRollout(s, p)
	case p.Desired == nil && p.InFlight && p.Refusal != "":
		fault := refusal(p)
		p.Reason, p.Message = fault.Reason, fault.Message
	}
}

// markInFlight notes in a plan whether a rollout that we started has not finished. A
// workload that carries the current sidecar and is rolling out counts too: after a
// restart nothing else tells that we started it. So does one that carries it and has
// not soaked, whether its pods are available now or not. A removal needs no soak.
func (s *Snapshot) markInFlight(p *plan.Plan) {
	var written int64
	if s.Started != nil {
		written = s.Started(p.Target.UID)
	}
	isCurrent := p.IsCurrent() && p.Desired != nil
	switch {
	case p.Generation < written: // The cache is behind.
		p.InFlight = true
	case written == 0 && !isCurrent:
	case p.Rollout == workload.RolloutProgressing:
		p.InFlight = true
	case p.Rollout != workload.RolloutFailed && p.Desired != nil:
		p.InFlight = s.steadiest(p) < s.soak()
	}
}

// steadiest is the longest time for which all pods have been available since the last
// rollout. Where that is only assumed, the status tells of those that had not soaked when
// it was written, by this operator or by the one before.
func (s *Snapshot) steadiest(p *plan.Plan) time.Duration {
	state := p.State
	if state.IsAssumed && s.told(p) != "" {
		state.Steady = 0
	}
	return state.Steadiest(s.Now)
}

// told is what the status last said of a workload that had not finished its rollout, ""
// if it said nothing of it.
func (s *Snapshot) told(p *plan.Plan) v1alpha1.WorkloadState {
	for i := range s.Sidecar.Status.Unsettled {
		told := &s.Sidecar.Status.Unsettled[i]
		if told.Name != p.Target.Name {
			continue
		}
		switch told.State {
		case v1alpha1.StateRollingOut, v1alpha1.StateSoaking, v1alpha1.StateFailed:
			return told.State
		default:
			return ""
		}
	}
	return ""
}

// again has a look taken after a time, when a plan may become another one though
// nothing happens.
func (d *Decision) again(after time.Duration) {
	if d.Again == 0 || after < d.Again {
		d.Again = max(after, time.Millisecond)
	}
}

// limitOf reads spec.rollout. Deleting a VectorSidecar overrides a pause: its
// finalizer must not wait for ever.
func limitOf(snapshot *Snapshot, matched int) plan.Limit {
	limit := plan.Limit{Max: defaultConcurrent, Soak: snapshot.soak()}
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
