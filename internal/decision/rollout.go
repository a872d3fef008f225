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

// markInFlight sets whether a rollout that the operator started has not finished. A workload that rolls out and has the
// current sidecar counts. The reason is that after a restart of the operator only this state shows the start of the
// rollout. A workload that has the current sidecar and has yet to soak counts, too, even if some pods are unavailable.
// A removal does not need a soak.
func (f *Facts) markInFlight(p *plan.Plan, started int64) {
	isCurrent := p.IsCurrent() && p.Desired != nil
	switch {
	case p.Workload.Generation < started: // The cache is stale.
		p.Rollout.InFlight = true
	case p.Existing.Waits && !isCurrent: // Recording the wait did not start a rollout.
	case started == 0 && !isCurrent:
	case p.Desired == nil && p.Workload.IsOutlived: // A workload that failed before the removal may never finish, so it does not use a slot.
	case p.Workload.Rollout == workload.RolloutProgressing:
		p.Rollout.InFlight = true
	case p.Workload.Rollout == workload.PodsNotReplaced, p.Workload.LacksPods(): // No pods will be replaced.
	case p.Workload.IsByRuns && p.Workload.Rollout == workload.RolloutComplete: // A run with the sidecar has succeeded.
	case p.Rollout.FailedBefore && isCurrent && p.Workload.Rollout == workload.RolloutUnavailable: // The workload may stay unavailable forever.
		p.Rollout.InFlight = p.Workload.TimeInState(f.Now) < patience
	case p.Workload.Rollout != workload.RolloutFailed && p.Desired != nil:
		p.Rollout.InFlight = f.steadiest(p) < f.soak()
	}
}

// patience is the maximum time without some pods during a soak before the rollout counts as failed. It applies if the
// operator cannot find the cause for lack of permission to read pods. A node drain takes less time.
const patience = 2 * time.Minute

// unseen is appended to messages about pods that the operator has not read.
const unseen = "; cause unknown, because pods are not read (rbac.optional.pods)"

// judgeRollout records the problems of the pods of a workload that has the current sidecar, and whether its rollout has
// failed.
func (d *Decision) judgeRollout(f *Facts, p *plan.Plan) {
	fault, isSeen := f.Faults[p.Target.UID]
	if p.Rollout.FailedBefore {
		d.judgeFailedBefore(f, p, fault)
		return
	}
	if p.Workload.Refusal != "" && !fault.IsOurs {
		fault = refusal(p)
	}
	if p.Workload.Rollout == workload.RolloutComplete && !fault.IsRestarts {
		fault = workload.Fault{} // The problem has passed.
	}
	switch {
	case p.Workload.Rollout == workload.RolloutComplete && fault.IsOurs:
		p.Fail(fault.Reason, fault.Message+" (rollout.halt.sidecarRestarts of the installation's values)")
	case p.Workload.LacksPods():
		p.Rollout.Reason, p.Rollout.Message = meta.ReasonWithoutPods, withoutPods(p)
	case p.Workload.Rollout == workload.RolloutComplete:
		d.soak(f, p)
	case p.Workload.Rollout == workload.PodsNotReplaced && p.Workload.IsHeldByWrite && fault.Reason != "": // The next run of the workload does not start.
		p.Hinder(fault.Reason, fault.Message)
	case p.Workload.Rollout == workload.PodsNotReplaced:
		p.Rollout.Reason, p.Rollout.Message = meta.ReasonPodsNotReplaced, heldMessage(p)
		if p.Workload.IsHeldByWrite && fault.IsPartial {
			p.Rollout.Message += "; " + noProgressSince(p) + unread
		}
	case p.Workload.Rollout == workload.RolloutFailed:
		p.Fail(meta.ReasonRolloutFailed, because(missed(p), fault, isSeen))
	case p.Rollout.InFlight && fault.IsOurs:
		p.Fail(fault.Reason, fault.Message)
	case p.Workload.Rollout == workload.RolloutUnavailable && p.Rollout.InFlight && !isSeen:
		d.lose(f, p, fault)
	case fault.Reason != "":
		p.Hinder(fault.Reason, fault.Message)
	case p.Workload.Rollout == workload.RolloutUnavailable:
		p.Rollout.Reason, p.Rollout.Message = meta.ReasonUnavailable, because("not all pods are available", fault, isSeen)
	case p.Workload.Rollout == workload.RolloutProgressing && p.Rollout.InFlight && p.Workload.Newest != 0:
		d.reportProgress(f, p, isSeen && !fault.IsPartial)
	}
	isRead := isSeen && !fault.IsPartial
	isApplication := isRead && fault.Reason == "" // Only the application's containers can be the cause.
	p.Rollout.Unexplained = p.Rollout.Phase == plan.RolloutFailed && !isRead && fault.Reason == "" && (f.PodsNotRead != "" || p.Workload.Rollout != workload.RolloutComplete)
	p.Rollout.SidecarFailed, p.Rollout.Container = fault.IsOurs || p.Rollout.Phase == plan.RolloutFailed && !isApplication && !p.Rollout.Unexplained, fault.Container
	p.Rollout.Obstructed = p.Rollout.SidecarFailed && !fault.IsOurs && fault.Reason != ""
}

// judgeFailedBefore sets the reason and message of a workload that failed before the sidecar was written. No problem of
// such a workload counts as a failure of the sidecar.
func (d *Decision) judgeFailedBefore(f *Facts, p *plan.Plan, fault workload.Fault) {
	switch {
	case p.Workload.LacksPods():
		p.Rollout.Reason, p.Rollout.Message = meta.ReasonWithoutPods, withoutPods(p)
		return
	case p.Workload.Rollout == workload.RolloutComplete && p.Rollout.InFlight:
		d.soak(f, p)
		return
	case p.Workload.Rollout == workload.RolloutUnavailable && p.Rollout.InFlight:
		d.again(patience - p.Workload.TimeInState(f.Now))
	}
	p.Rollout.Reason, p.Rollout.Message = meta.ReasonFailedBefore, "the workload failed before the sidecar was written, which does not count as a failure of the sidecar; not all pods are available"
	switch {
	case fault.Reason != "":
		p.Rollout.Message += ": " + fault.Message
	case p.Workload.Refusal != "":
		p.Rollout.Message += ": " + refusal(p).Message
	}
}

// reportProgress reports a rollout that stopped making progress, for kinds with a status that does not show it. If the
// pods and events were read, they do not show a cause.
func (d *Decision) reportProgress(f *Facts, p *plan.Plan, isRead bool) {
	if remaining := patience - p.Workload.TimeInState(f.Now); remaining > 0 {
		d.again(remaining)
		return
	}
	p.Rollout.Reason, p.Rollout.Message = meta.ReasonRollingOut, noProgressSince(p)
	if !isRead {
		p.Rollout.Message += unread
	}
}

// noProgressSince returns a message with the time since which no more pods have got the template or become available.
func noProgressSince(p *plan.Plan) string {
	if p.Workload.StateSince.IsZero() {
		return "no progress"
	}
	return "no progress since " + p.Workload.StateSince.UTC().Format(time.RFC3339)
}

// unread is appended to messages about workloads if the operator may not read their pods or events.
const unread = "; cause not read (rbac.optional.pods)"

// missed returns a message about the deadline that a rollout has passed, and about the action that a user has to take.
func missed(p *plan.Plan) string {
	text := "the rollout did not finish before its progress deadline"
	if !p.Target.Adapter().Traits.HasDeadline {
		text = fmt.Sprintf("%s: no further pod was updated or became available for %s", noProgressSince(p), workload.Deadline)
	}
	if p.Workload.FailureCause != "" {
		text = p.Workload.FailureCause
	}
	if p.Workload.Advice != "" {
		text += " (" + p.Workload.Advice + ")"
	}
	return text
}

// withoutPods explains why no pod has run the sidecar of a workload.
func withoutPods(p *plan.Plan) string {
	message := "no pod has run the sidecar"
	if p.Workload.Idle != "" {
		message += ": " + p.Workload.Idle
	}
	return message
}

// heldMessage explains why pods keep the previous template, with their number.
func heldMessage(p *plan.Plan) string {
	pods := fmt.Sprintf("%d pods run", p.Workload.Old)
	if p.Workload.Old == 1 {
		pods = "1 pod runs"
	}
	if p.Workload.Old == 0 {
		return p.Workload.HeldReason
	}
	return p.Workload.HeldReason + "; " + pods + " the previous template"
}

// refusal returns the fault for pods that the API server does not create.
func refusal(p *plan.Plan) workload.Fault {
	return workload.RejectionFault(p.Workload.Refusal)
}

// soak sets the state of a workload when all of its pods are available. A workload that failed stays failed until it
// has soaked, because a sidecar in a crash loop runs from time to time.
func (d *Decision) soak(f *Facts, p *plan.Plan) {
	if !p.Rollout.InFlight {
		return
	}
	d.again(f.soak() - p.Workload.TimeInState(f.Now))
	if f.told(p) == v1alpha1.StateFailed {
		p.Fail(meta.ReasonRolloutFailed, fmt.Sprintf("pods were unavailable within %s after the rollout (spec.rollout.soak), and have not been available for that long since then", f.soak()))
		return
	}
	p.Rollout.Reason, p.Rollout.Message = meta.ReasonSoaking, fmt.Sprintf("waiting until all pods have been available for %s (spec.rollout.soak)", f.soak())
}

// lose sets the state of a workload that lost pods during its soak, if the operator cannot read the cause.
func (d *Decision) lose(f *Facts, p *plan.Plan, fault workload.Fault) {
	lost := fmt.Sprintf("not all pods stayed available for %s after the rollout (spec.rollout.soak)", f.soak())
	if f.told(p) == v1alpha1.StateFailed || p.Workload.TimeInState(f.Now) >= patience {
		p.Fail(meta.ReasonRolloutFailed, because(lost, fault, false))
		return
	}
	d.again(patience - p.Workload.TimeInState(f.Now))
	if fault.Reason != "" {
		p.Hinder(fault.Reason, fault.Message)
		return
	}
	p.Rollout.Reason, p.Rollout.Message = meta.ReasonUnavailable, because(lost, fault, false)
}

// because appends the known cause to a message.
func because(message string, fault workload.Fault, isSeen bool) string {
	switch {
	case fault.Reason != "":
		return message + ": " + fault.Message
	case !isSeen:
		return message + unseen
	case fault.IsPartial:
		return message + unread
	}
	return message
}

// expire fails a rollout that has passed the operator's own deadline, for kinds without a deadline in their status.
func (d *Decision) expire(f *Facts, p *plan.Plan) {
	isOverdue, remaining := p.Workload.Overdue(p.Target.Adapter(), f.Now)
	if isOverdue {
		p.Workload.Rollout = workload.RolloutFailed
	} else if remaining > 0 {
		d.again(remaining)
	}
}

// follow sets the rollout state of the plan's workload, its problems, and whether the API server rejected the same
// write before.
func (d *Decision) follow(f *Facts, p *plan.Plan, started int64) {
	switch {
	case p.Workload.IsAssumed && f.told(p) == v1alpha1.StateRollingOut:
		p.Workload.Resume()
	case p.Workload.IsOutlived && !p.Workload.Overwritten.IsZero() && f.told(p) == v1alpha1.StateFailed && f.isReportedAfter(p.Workload.Overwritten):
		p.Workload.Rollout = workload.RolloutFailed // The status is newer than the write, which changed only annotations.
	}
	d.expire(f, p)
	d.findFailedBefore(f, p)
	if !p.Halted && !p.IsDeferred() {
		f.markInFlight(p, started)
	}
	d.recall(f, p)
	switch {
	case p.Desired != nil && p.IsCurrent():
		d.judgeRollout(f, p)
	case p.Desired == nil && p.Rollout.InFlight && p.Workload.Refusal != "":
		fault := refusal(p)
		p.Rollout.Reason, p.Rollout.Message = fault.Reason, fault.Message
		if p.Block != nil && !p.IsBlockedBy(plan.BlockedByRejection) { // The rejected pods are the more important message.
			p.Block = &plan.Block{Kind: plan.BlockedByObstacle, Reason: fault.Reason, Message: fault.Message}
		}
	}
	d.findEvidence(f, p)
	p.SetRolloutPhase()
}
