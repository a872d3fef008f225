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

// patience is for how long pods may be unavailable while they soak before their rollout
// counts as failed, where nobody may see why they are: a drained node takes less.
const patience = 2 * time.Minute

// unseen ends a message about pods whose states are not read.
const unseen = "; pods are not read (rbac.optional.pods), so that the cause is not known"

// judgeRollout says of a workload that carries the current sidecar what is wrong with its
// pods, and whether its rollout has failed.
func (d *Decision) judgeRollout(s *Snapshot, p *plan.Plan) {
	fault, isSeen := s.Faults[p.Target.UID]
	if p.Refusal != "" && !fault.IsOurs {
		fault = refusal(p)
	}
	switch {
	case p.Rollout == workload.RolloutComplete:
		d.soak(s, p)
	case p.Rollout == workload.RolloutFailed:
		p.Fail(meta.ReasonRolloutFailed, because("its rollout did not finish before its progress deadline", fault, isSeen))
	case p.InFlight && fault.IsOurs:
		p.Fail(fault.Reason, fault.Message)
	case p.Rollout == workload.RolloutUnavailable && p.InFlight && !isSeen:
		d.lose(s, p, fault)
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
func (d *Decision) soak(s *Snapshot, p *plan.Plan) {
	if !p.InFlight {
		return
	}
	d.again(s.soak() - p.For(s.Now))
	if s.told(p) == v1alpha1.StateFailed {
		p.Fail(meta.ReasonRolloutFailed, fmt.Sprintf("its pods were unavailable within %s after its rollout (spec.rollout.soak), and have not been available for as long since", s.soak()))
		return
	}
	p.Reason, p.Message = meta.ReasonSoaking, fmt.Sprintf("its rollout counts as done when its pods have been available for %s (spec.rollout.soak)", s.soak())
}

// lose judges a workload that has lost pods while it soaked, where nobody sees why.
func (d *Decision) lose(s *Snapshot, p *plan.Plan, fault workload.Fault) {
	lost := fmt.Sprintf("not all of its pods stayed available for %s after its rollout (spec.rollout.soak)", s.soak())
	if s.told(p) == v1alpha1.StateFailed || p.For(s.Now) >= patience {
		p.Fail(meta.ReasonRolloutFailed, because(lost, fault, false))
		return
	}
	d.again(patience - p.For(s.Now))
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
