// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// defaultSoak is spec.rollout.soak when it is not given.
const defaultSoak = 30 * time.Second

// soak reads spec.rollout.soak.
func (f *Facts) soak() time.Duration {
	if rollout := f.Sidecar.Spec.Rollout; rollout != nil && rollout.Soak != nil {
		return rollout.Soak.Duration
	}
	return defaultSoak
}

// markInFlight notes in a plan whether a rollout that we started has not finished. A
// workload that carries the current sidecar and is rolling out counts too: after a
// restart nothing else tells that we started it. So does one that carries it and has
// not soaked, whether its pods are available now or not. A removal needs no soak.
func (f *Facts) markInFlight(p *plan.Plan, started int64) {
	isCurrent := p.IsCurrent() && p.Desired != nil
	switch {
	case p.Generation < started: // The cache is behind.
		p.InFlight = true
	case started == 0 && !isCurrent:
	case p.Rollout == workload.RolloutProgressing:
		p.InFlight = true
	case p.Rollout != workload.RolloutFailed && p.Desired != nil:
		p.InFlight = f.steadiest(p) < f.soak()
	}
}

// steadiest is the longest time for which all pods have been available since the last
// rollout. Where that is only assumed, the status tells of those that had not soaked when
// it was written, by this operator or by the one before.
func (f *Facts) steadiest(p *plan.Plan) time.Duration {
	state := p.State
	if state.IsAssumed && f.told(p) != "" {
		state.Steady = 0
	}
	return state.Steadiest(f.Now)
}

// told is what the status last said of a workload that had not finished its rollout, ""
// if it said nothing of it.
func (f *Facts) told(p *plan.Plan) v1alpha1.WorkloadState {
	for i := range f.Sidecar.Status.Unsettled {
		told := &f.Sidecar.Status.Unsettled[i]
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

// patience is for how long pods may be unavailable while they soak before their rollout
// counts as failed, where nobody may see why they are: a drained node takes less.
const patience = 2 * time.Minute

// unseen ends a message about pods whose states are not read.
const unseen = "; pods are not read (rbac.optional.pods), so that the cause is not known"

// judgeRollout says of a workload that carries the current sidecar what is wrong with its
// pods, and whether its rollout has failed.
func (d *Decision) judgeRollout(f *Facts, p *plan.Plan) {
	fault, isSeen := f.Faults[p.Target.UID]
	if p.Refusal != "" && !fault.IsOurs {
		fault = refusal(p)
	}
	switch {
	case p.Rollout == workload.RolloutComplete:
		d.soak(f, p)
	case p.Rollout == workload.RolloutFailed:
		p.Fail(meta.ReasonRolloutFailed, because("its rollout did not finish before its progress deadline", fault, isSeen))
	case p.InFlight && fault.IsOurs:
		p.Fail(fault.Reason, fault.Message)
	case p.Rollout == workload.RolloutUnavailable && p.InFlight && !isSeen:
		d.lose(f, p, fault)
	case fault.Reason != "":
		p.Hinder(fault.Reason, fault.Message)
	case p.Rollout == workload.RolloutUnavailable:
		p.Reason, p.Message = meta.ReasonUnavailable, because("not all of its pods are available", fault, isSeen)
	}
}

// refusal is the fault that the API server refuses to make pods.
func refusal(p *plan.Plan) workload.Fault {
	return workload.Fault{Reason: meta.ReasonPodsRefused, Message: "the API server refuses to make its pods: " + p.Refusal}
}

// soak judges a workload all of whose pods are available. One that had failed has so
// until the end of the soak: a sidecar that ends again and again runs in between.
func (d *Decision) soak(f *Facts, p *plan.Plan) {
	if !p.InFlight {
		return
	}
	d.again(f.soak() - p.For(f.Now))
	if f.told(p) == v1alpha1.StateFailed {
		p.Fail(meta.ReasonRolloutFailed, fmt.Sprintf("its pods were unavailable within %s after its rollout (spec.rollout.soak), and have not been available for as long since", f.soak()))
		return
	}
	p.Reason, p.Message = meta.ReasonSoaking, fmt.Sprintf("its rollout counts as done when its pods have been available for %s (spec.rollout.soak)", f.soak())
}

// lose judges a workload that has lost pods while it soaked, where nobody sees why.
func (d *Decision) lose(f *Facts, p *plan.Plan, fault workload.Fault) {
	lost := fmt.Sprintf("not all of its pods stayed available for %s after its rollout (spec.rollout.soak)", f.soak())
	if f.told(p) == v1alpha1.StateFailed || p.For(f.Now) >= patience {
		p.Fail(meta.ReasonRolloutFailed, because(lost, fault, false))
		return
	}
	d.again(patience - p.For(f.Now))
	if fault.Reason != "" {
		p.Hinder(fault.Reason, fault.Message)
		return
	}
	p.Reason, p.Message = meta.ReasonUnavailable, because(lost, fault, false)
}

// because adds to a message what is known of the cause.
func because(message string, fault workload.Fault, isSeen bool) string {
	switch {
	case fault.Reason != "":
		return message + ": " + fault.Message
	case !isSeen:
		return message + unseen
	}
	return message
}

// follow notes in a plan how far the rollout of its workload is, and what is wrong with it.
func (d *Decision) follow(f *Facts, p *plan.Plan, started int64) {
	if !p.Halted {
		f.markInFlight(p, started)
	}
	switch {
	case p.Desired != nil && p.IsCurrent():
		d.judgeRollout(f, p)
	case p.Desired == nil && p.InFlight && p.Refusal != "":
		fault := refusal(p)
		p.Reason, p.Message = fault.Reason, fault.Message
	}
}
