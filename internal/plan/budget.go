// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Limit bounds concurrent rollouts.
type Limit struct {
	// Max is the number of workloads whose rollout was started and has not finished; 0
	// for no limit.
	Max int
	// Soak is how long a finished rollout still counts. Only the message uses it: the
	// plans say what is in flight.
	Soak time.Duration
	// Paused starts nothing new.
	Paused bool
	// Hold lets nothing but removals be written; nil if nothing does.
	Hold *Hold
	// Late lets nothing begin that has waited for spec.rollout.maxAge; nil if nothing does.
	Late *Hold
	// Retried is when a user last ran rollout retry, zero for never: failed rollouts whose state is
	// older block nothing.
	Retried time.Time
	// Unproven explains why all workloads but canaries wait while no canary has evidence; "" if they do not.
	Unproven string
	// Gap is the time between two windows, if it is that now; nil in a window. Nothing begins
	// then but removals, and injections into workloads that were created in the Gap.
	Gap *Gap
}

// Gap is the time between two windows.
type Gap struct {
	// Since is when the last window closed; zero if none has been open for long.
	Since time.Time
	// Until is when the next one opens.
	Until time.Time
}

// Hold says why nothing but removals may be written.
type Hold struct {
	// Reason is one of package meta, Message a sentence.
	Reason, Message string
}

// Stop is the Hold of an installation that has stopped all writes.
func Stop() *Hold {
	return &Hold{meta.ReasonWritesStopped, "the annotation " + meta.AnnotationStopWrites + " of the installation's ConfigMap stops all writes but removals"}
}

// Admit marks the plans that have to wait, with the reason: no more concurrent rollouts
// than allowed, none but of canaries while one of those goes on, and no new one while one
// has failed. Plans are admitted in their order, those of writes that were refused last: these
// have a place when they are tried, and none in between. Workloads that failed before come after
// all others, and their rollouts use only slots that no other workload waits for. It keeps no state.
func Admit(plans []Plan, limit Limit) {
	inFlight, inFlightFailed, isQueued := 0, 0, false
	var failed, canary *Plan
	isUnproven := limit.Unproven != "" && lacksEvidence(plans)
	for i := range plans {
		p := &plans[i]
		isForgiven := p.Failed && p.Since.Before(limit.Retried)
		switch {
		case !p.InFlight || isForgiven:
		case p.FailedBefore:
			inFlightFailed++
		default:
			inFlight++
		}
		if failed == nil && p.Failed && !isForgiven {
			failed = p
		}
		if canary == nil && p.IsCanaryUnderWay() && !isForgiven {
			canary = p
		}
	}
	for p := range inTurn(plans) {
		switch { // It stays for later.
		case limit.Hold == nil:
		case p.IsRecordOnly() && p.Desired != nil:
			p.Action = None
		case p.Action == Defer:
			p.Apply = nil
		}
		if p.LacksCanary = false; p.Waiting || !p.StartsPods() {
			continue
		}
		switch {
		case limit.Hold != nil && p.Action != Remove:
			p.Wait(limit.Hold.Reason, limit.Hold.Message)
		case p.isBetween():
			p.Wait(meta.ReasonWaitingForSteps, "it goes by steps of its own, which another template would begin anew: it is written when they are done")
		case limit.Late != nil && p.Late && !limit.Paused:
			p.Wait(limit.Late.Reason, limit.Late.Message)
		case limit.Paused:
			p.Wait(meta.ReasonRolloutPaused, "spec.rollout.paused is true")
		case failed != nil && p.Action != Remove:
			p.Wait(meta.ReasonRolloutFailed, fmt.Sprintf("%s %s did not finish its rollout with this sidecar: nothing more is started until it does, or the sidecar changes", failed.Target.Kind, failed.Target.Name))
		case limit.Gap != nil && p.Action != Remove && !limit.isNew(p):
			p.Wait(meta.ReasonOutsideWindow, "the next window of the installation's rollout.windows opens at "+limit.Gap.Until.Format(time.RFC3339))
		case p.Withheld:
		case canary != nil && !p.IsCanary && p.Action != Remove:
			p.queue(meta.ReasonWaitingForCanary, fmt.Sprintf("%s %s of spec.rollout.canary has to finish its rollout first", canary.Target.Kind, canary.Target.Name))
			isQueued = isQueued || !p.FailedBefore
		case isUnproven && !p.IsCanary && p.Action != Remove:
			p.Wait(meta.ReasonWaitingForCanary, limit.Unproven)
			p.LacksCanary = true
		case p.FailedBefore && isQueued:
			p.queue(meta.ReasonWaitingForHealthy, "it failed before this change, which it gets when no healthy workload waits for a rollout slot")
		case p.InFlight:
			// The newest version replaces it: still one rollout.
		case limit.Max > 0 && inFlight >= limit.Max, limit.Max > 0 && p.FailedBefore && inFlight+inFlightFailed >= limit.Max:
			p.queue(meta.ReasonWaitingForSlot, limit.why())
			isQueued = isQueued || !p.FailedBefore
		case p.FailedBefore:
			inFlightFailed++
		default:
			inFlight++
		}
	}
}

// IsCanaryUnderWay reports whether a canary is not done with the desired sidecar. One that cannot
// have it holds nobody up.
func (p *Plan) IsCanaryUnderWay() bool {
	return p.IsCanary && p.Desired != nil && (p.Action == Inject || p.Action == Update || p.InFlight)
}

// lacksEvidence reports whether there are canaries and no pod of one has run the current sidecar for the soak.
func lacksEvidence(plans []Plan) bool {
	hasCanary := false
	for i := range plans {
		if plans[i].IsCanary && plans[i].HasEvidence {
			return false
		}
		hasCanary = hasCanary || plans[i].IsCanary
	}
	return hasCanary
}

// isBetween reports whether a workload goes by steps of its own that a write would begin
// anew. Where they have failed, a sidecar that is in the template may be the cause.
func (p *Plan) isBetween() bool {
	return p.IsBetween && (p.Rollout != workload.RolloutFailed || p.Action == Inject)
}

// isNew reports whether a workload was created after the last window had closed: it gets
// the sidecar at once.
func (l *Limit) isNew(p *Plan) bool {
	return p.Action == Inject && !l.Gap.Since.IsZero() && p.Created.After(l.Gap.Since)
}

// why says what the plan waits for.
func (l *Limit) why() string {
	text := fmt.Sprintf("spec.rollout.maxConcurrent lets %d rollouts go on at once", l.Max)
	if l.Soak > 0 {
		text += fmt.Sprintf(", each until its pods have been available for %s (spec.rollout.soak)", l.Soak)
	}
	return text
}
