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

// withRollout returns a plan with the state of the workload and of its rollout, and with the rejection of the same write. It
// schedules the next decision about the plan.
func (d *Decision) withRollout(input *Input, p plan.Plan) plan.Plan {
	state, deadline := input.correctedState(&p)
	p.Workload = state
	rollout, nextCheck := input.rollout(&p)
	rejection, retryAt := input.rejection(&p)
	p.Rollout, p.Rejection = rollout, rejection
	if rollout.FailedBefore && (p.StartsPods() || p.HasChange(plan.Adopt) && input.waitedAsFailed(&p)) { // The API server injects without the mark.
		p.Write = p.Write.WithFailureMark(p.Manager)
	}
	if p.Block != nil && p.Desired == nil && rollout.Reason != "" { // The rejected pods are the more important message.
		p.Block = obstacle(rollout.Reason, rollout.Message)
	}
	d.checkAt(input.Now, deadline, nextCheck, retryAt)
	return p
}

// correctedState returns the state of a plan's workload with two corrections from the last status of the VectorSidecar,
// which survives a restart of the operator: a rollout that was in progress continues, and a rollout that had failed before
// a write of annotations is still failed. For kinds without a deadline in their status, it also applies the operator's
// own deadline, and returns the time of that deadline, or zero for none.
func (input *Input) correctedState(p *plan.Plan) (state workload.State, deadline time.Time) {
	state = p.Workload
	switch {
	case state.IsAssumed && input.reportedState(p) == v1alpha1.StateRollingOut:
		state.Resume()
	case state.IsOutlived && !state.Overwritten.IsZero() && input.reportedState(p) == v1alpha1.StateFailed && input.isReportedAfter(state.Overwritten):
		state.Rollout = workload.RolloutFailed // The status is newer than the write, which changed only annotations.
	}
	isOverdue, remaining := state.IsOverdue(p.Target.Adapter(), input.Now)
	switch {
	case isOverdue:
		state.Rollout = workload.RolloutFailed
	case remaining > 0:
		deadline = input.Now.Add(remaining)
	}
	return state, deadline
}

// rollout returns the rollout of a plan's current sidecar. nextCheck is the time when it may change without an event, or
// zero for never.
func (input *Input) rollout(p *plan.Plan) (rollout plan.Rollout, nextCheck time.Time) {
	failedBefore := input.failedBefore(p)
	inFlight := input.isInFlight(p, failedBefore)
	switch {
	case p.Desired == nil && inFlight && p.Workload.Refusal != "":
		fault := workload.RejectionFault(p.Workload.Refusal)
		rollout = newRollout(plan.RolloutNone, fault.Reason, fault.Message)
	case p.Desired == nil, !p.IsCurrent():
	case failedBefore:
		rollout, nextCheck = input.rolloutAfterFailure(p, inFlight)
	default:
		rollout, nextCheck = input.currentRollout(p, inFlight)
	}
	rollout.InFlight, rollout.FailedBefore = inFlight, failedBefore
	return rollout.WithPhase(p), nextCheck
}

// newRollout returns a rollout in a phase. With RolloutNone, the phase follows from the state of the workload.
func newRollout(phase plan.RolloutPhase, reason, message string) plan.Rollout {
	return plan.Rollout{Phase: phase, Reason: reason, Message: message}
}

// isInFlight reports whether a rollout that the operator started has not finished. A workload with the current
// sidecar counts while it rolls out, because after a restart of the operator only this state shows the start of the
// rollout. It also counts until it has soaked, even if some pods are unavailable. A removal does not need a soak.
func (input *Input) isInFlight(p *plan.Plan, failedBefore bool) bool {
	written := input.writtenGeneration(p.Target.UID)
	isCurrent := p.IsCurrent() && p.Desired != nil
	switch {
	case p.Halted, p.IsDeferred():
		return false
	case p.Workload.Generation < written: // The cache is stale.
		return true
	case !isCurrent && (written == 0 || p.Existing.Waits): // Recording the wait did not start a rollout.
		return false
	case p.Desired == nil && p.Workload.IsOutlived: // A workload that failed before the removal may never finish, so it does not use a slot.
		return false
	case p.Workload.Rollout == workload.RolloutProgressing:
		return true
	case p.Workload.Rollout == workload.PodsNotReplaced, p.Workload.LacksPods(): // No pods will be replaced.
		return false
	case p.Workload.IsByRuns && p.Workload.Rollout == workload.RolloutComplete: // A run with the sidecar has succeeded.
		return false
	case failedBefore && isCurrent && p.Workload.Rollout == workload.RolloutUnavailable: // The workload may stay unavailable forever.
		return p.Workload.TimeInState(input.Now) < lossTimeout
	}
	return p.Workload.Rollout != workload.RolloutFailed && p.Desired != nil && input.longestAvailability(p) < input.soak()
}

// lossTimeout is the maximum time for which pods may be missing during a soak before the rollout counts as failed. It
// applies if the operator may not read the pods to find the cause. A node drain takes less time.
const lossTimeout = 2 * time.Minute

// podsNotRead is appended to messages if the operator has not read the pods of the workload.
const podsNotRead = "; cause unknown, because pods are not read (rbac.optional.pods)"

// currentRollout returns the rollout of a workload with the current sidecar: its phase, the problems of its pods, and
// whether a pod has run the sidecar for the soak.
func (input *Input) currentRollout(p *plan.Plan, inFlight bool) (rollout plan.Rollout, nextCheck time.Time) {
	state := &p.Workload
	fault, isSeen := input.Faults[p.Target.UID]
	if state.Refusal != "" && !fault.IsSidecarFault {
		fault = workload.RejectionFault(state.Refusal)
	}
	if state.Rollout == workload.RolloutComplete && !fault.IsRestarts {
		fault = workload.Fault{} // The problem has passed.
	}
	switch {
	case state.Rollout == workload.RolloutComplete && fault.IsSidecarFault:
		rollout = newRollout(plan.RolloutFailed, fault.Reason, fault.Message+" (rollout.halt.sidecarRestarts of the installation's values)")
	case state.LacksPods():
		rollout = newRollout(plan.RolloutNone, meta.ReasonWithoutPods, noPodsMessage(p))
	case state.Rollout == workload.RolloutComplete && inFlight:
		rollout, nextCheck = input.soakingRollout(p)
	case state.Rollout == workload.RolloutComplete:
	case state.Rollout == workload.PodsNotReplaced && state.IsHeldByWrite && fault.Reason != "": // The next run of the workload does not start.
		rollout = newRollout(plan.RolloutPodsBlocked, fault.Reason, fault.Message)
	case state.Rollout == workload.PodsNotReplaced:
		rollout = newRollout(plan.RolloutNone, meta.ReasonPodsNotReplaced, outdatedPodsMessage(p, fault))
	case state.Rollout == workload.RolloutFailed:
		rollout = newRollout(plan.RolloutFailed, meta.ReasonRolloutFailed, withCause(deadlineMessage(p), fault, isSeen))
	default:
		rollout, nextCheck = input.unfinishedRollout(p, inFlight, fault, isSeen)
	}
	if rollout = input.withFailureCause(rollout, state, fault, isSeen); !inFlight && rollout.Phase != plan.RolloutFailed {
		rollout.HasEvidence, nextCheck = input.evidence(state)
	}
	return rollout, nextCheck
}

// withFailureCause sets whether the sidecar is the cause of a rollout's problems, and whether the cause is unknown.
func (input *Input) withFailureCause(rollout plan.Rollout, state *workload.State, fault workload.Fault, isSeen bool) plan.Rollout {
	hasFailed, isRead := rollout.Phase == plan.RolloutFailed, isSeen && !fault.IsPartial
	isApplication := isRead && fault.Reason == "" // Only the application's containers can be the cause.
	rollout.Unexplained = hasFailed && !isRead && fault.Reason == "" && (input.PodsNotRead != "" || state.Rollout != workload.RolloutComplete)
	rollout.SidecarFailed, rollout.Container = fault.IsSidecarFault || hasFailed && !isApplication && !rollout.Unexplained, fault.Container
	rollout.Obstructed = rollout.SidecarFailed && !fault.IsSidecarFault && fault.Reason != ""
	return rollout
}

// unfinishedRollout returns the rollout of a workload that rolls out, or that does not have all of its pods available any
// more.
func (input *Input) unfinishedRollout(p *plan.Plan, inFlight bool, fault workload.Fault, isSeen bool) (rollout plan.Rollout, nextCheck time.Time) {
	isUnavailable, lossDeadline := p.Workload.Rollout == workload.RolloutUnavailable, input.dueAfter(&p.Workload, lossTimeout)
	isUnseenLoss := isUnavailable && inFlight && !isSeen // During its soak, and the operator cannot read the cause.
	message := "not all pods are available"
	if isUnseenLoss {
		message = fmt.Sprintf("not all pods stayed available for %s after the rollout (spec.rollout.soak)", input.soak())
		nextCheck = lossDeadline
	}
	switch {
	case inFlight && fault.IsSidecarFault:
		return newRollout(plan.RolloutFailed, fault.Reason, fault.Message), time.Time{}
	case isUnseenLoss && (p.Workload.TimeInState(input.Now) >= lossTimeout || input.reportedState(p) == v1alpha1.StateFailed):
		return newRollout(plan.RolloutFailed, meta.ReasonRolloutFailed, withCause(message, fault, isSeen)), time.Time{}
	case fault.Reason != "":
		return newRollout(plan.RolloutPodsBlocked, fault.Reason, fault.Message), nextCheck
	case isUnavailable:
		return newRollout(plan.RolloutNone, meta.ReasonUnavailable, withCause(message, fault, isSeen)), nextCheck
	case !inFlight || p.Workload.Newest == 0: // The status shows the end of the rollout.
		return plan.Rollout{}, time.Time{}
	case lossDeadline.After(input.Now):
		return plan.Rollout{}, lossDeadline
	}
	message = noProgressSince(p)
	if !isSeen || fault.IsPartial { // Otherwise the pods and events do not show a cause.
		message += causeNotRead
	}
	return newRollout(plan.RolloutNone, meta.ReasonRollingOut, message), time.Time{}
}

// rolloutAfterFailure returns the rollout of a workload that failed before the sidecar was written. No problem of such a
// workload counts as a failure of the sidecar.
func (input *Input) rolloutAfterFailure(p *plan.Plan, inFlight bool) (rollout plan.Rollout, nextCheck time.Time) {
	switch {
	case p.Workload.LacksPods():
		return newRollout(plan.RolloutNone, meta.ReasonWithoutPods, noPodsMessage(p)), time.Time{}
	case p.Workload.Rollout == workload.RolloutComplete && inFlight:
		return input.soakingRollout(p)
	case p.Workload.Rollout == workload.RolloutUnavailable && inFlight:
		nextCheck = input.dueAfter(&p.Workload, lossTimeout)
	}
	message, fault := "the workload failed before the sidecar was written, which does not count as a failure of the sidecar; not all pods are available", input.Faults[p.Target.UID]
	switch {
	case fault.Reason != "":
		message += ": " + fault.Message
	case p.Workload.Refusal != "":
		message += ": " + workload.RejectionFault(p.Workload.Refusal).Message
	}
	return newRollout(plan.RolloutNone, meta.ReasonFailedBefore, message), nextCheck
}

// soakingRollout returns the rollout of a workload during its soak, when all of its pods are available. A workload that
// failed stays failed until it has soaked, because a sidecar in a crash loop runs from time to time.
func (input *Input) soakingRollout(p *plan.Plan) (rollout plan.Rollout, endOfSoak time.Time) {
	endOfSoak = input.dueAfter(&p.Workload, input.soak())
	if input.reportedState(p) == v1alpha1.StateFailed {
		return newRollout(plan.RolloutFailed, meta.ReasonRolloutFailed, fmt.Sprintf("pods were unavailable within %s after the rollout (spec.rollout.soak), and have not been available for that long since then", input.soak())), endOfSoak
	}
	return newRollout(plan.RolloutNone, meta.ReasonSoaking, fmt.Sprintf("waiting until all pods have been available for %s (spec.rollout.soak)", input.soak())), endOfSoak
}

// noProgressSince returns a message with the time since which no more pods have got the template or become available.
func noProgressSince(p *plan.Plan) string {
	if p.Workload.StateSince.IsZero() {
		return "no progress"
	}
	return "no progress since " + p.Workload.StateSince.UTC().Format(time.RFC3339)
}

// causeNotRead is appended to messages if the operator could not read all pods and events of the workload.
const causeNotRead = "; cause not read (rbac.optional.pods)"

// deadlineMessage returns the message about a rollout that has passed its deadline, with the next step of the user.
func deadlineMessage(p *plan.Plan) string {
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

// noPodsMessage explains why no pod has run the sidecar of a workload.
func noPodsMessage(p *plan.Plan) string {
	message := "no pod has run the sidecar"
	if p.Workload.Idle != "" {
		message += ": " + p.Workload.Idle
	}
	return message
}

// outdatedPodsMessage explains why pods keep the previous template, and contains their number.
func outdatedPodsMessage(p *plan.Plan, fault workload.Fault) string {
	message := p.Workload.HeldReason
	switch p.Workload.Old {
	case 0:
	case 1:
		message += "; 1 pod runs the previous template"
	default:
		message += fmt.Sprintf("; %d pods run the previous template", p.Workload.Old)
	}
	if p.Workload.IsHeldByWrite && fault.IsPartial {
		message += "; " + noProgressSince(p) + causeNotRead
	}
	return message
}

// withCause appends the known cause to a message.
func withCause(message string, fault workload.Fault, isSeen bool) string {
	switch {
	case fault.Reason != "":
		return message + ": " + fault.Message
	case !isSeen:
		return message + podsNotRead
	case fault.IsPartial:
		return message + causeNotRead
	}
	return message
}
