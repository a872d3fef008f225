// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// rolloutGate decides whether a change of a pod template may start. Its function returns the block of the change, or
// nil if the change may start.
type rolloutGate struct {
	// appliesToRemovals reports whether the gate also blocks the removal of a sidecar.
	appliesToRemovals bool
	block             func(p *Plan, limit *Limit, counts *tally) *Block
}

// rolloutGates decide whether a change waits for the other rollouts of its VectorSidecar. They are evaluated in this
// order, and the first block applies.
var rolloutGates = []rolloutGate{
	{false, blockByWriteHold},
	{true, blockBySteps},
	{true, blockByMaxAgeHold},
	{true, blockByPause},
	{false, blockByFailure},
	{false, blockByWindow},
	{true, blockByRejection},
	{false, blockByCanary},
	{false, blockByMissingCanary},
	{true, blockByHealthy},
	{true, blockBySlots},
}

// errorGates block changes that have passed the rolloutGates, while the VectorSidecar has an error. The blocked change
// keeps its slot, so that all other changes wait for the same reasons as without the error.
var errorGates = []rolloutGate{{false, blockByError}}

// findRolloutBlock returns the first block of a plan, or nil if its rollout may start.
func findRolloutBlock(gates []rolloutGate, p *Plan, limit *Limit, counts *tally) *Block {
	for _, gate := range gates {
		if p.Change == Remove && !gate.appliesToRemovals {
			continue
		}
		if block := gate.block(p, limit, counts); block != nil {
			return block
		}
	}
	return nil
}

// tally counts the rollouts of a VectorSidecar for the gates.
type tally struct {
	// inFlight is the number of rollouts in progress of workloads that did not fail before, and inFlightFailed the
	// number of the others.
	inFlight, inFlightFailed int
	// isQueued is true if a workload that did not fail before waits for a slot.
	isQueued bool
	// failed is the plan of the first workload with a failed rollout, and canary the plan of the first canary that
	// rolls out. They are nil if there is none.
	failed, canary *Plan
	// lacksEvidence reports whether there are canaries, but none of their pods has run the current sidecar for the soak
	// time.
	lacksEvidence bool
}

// newTally counts the rollouts that are in progress before a plan starts another one.
func newTally(plans []Plan, limit *Limit) *tally {
	counts := &tally{}
	hasEvidence := false
	for i := range plans {
		p := &plans[i]
		hasEvidence = hasEvidence || p.IsCanary && p.Rollout.HasEvidence
		counts.lacksEvidence = counts.lacksEvidence || p.IsCanary
		isForgiven := p.Rollout.Phase == RolloutFailed && p.Workload.StateSince.Before(limit.Retried)
		if isForgiven {
			continue
		}
		if p.Rollout.InFlight {
			counts.add(p)
		}
		if counts.failed == nil && p.Rollout.Phase == RolloutFailed {
			counts.failed = p
		}
		if counts.canary == nil && p.IsCanaryInProgress() {
			counts.canary = p
		}
	}
	counts.lacksEvidence = counts.lacksEvidence && !hasEvidence
	return counts
}

// start counts the rollout of a plan that starts now, unless a rollout of its workload is in progress.
func (t *tally) start(p *Plan) {
	if !p.Rollout.InFlight {
		t.add(p)
	}
}

// add counts a rollout in progress.
func (t *tally) add(p *Plan) {
	if p.Rollout.FailedBefore {
		t.inFlightFailed++
	} else {
		t.inFlight++
	}
}

// blockByWriteHold blocks changes while writes are on hold: they are stopped, or the wave of the VectorSidecar has not
// started.
func blockByWriteHold(_ *Plan, limit *Limit, _ *tally) *Block { return limit.WriteHold }

// blockByError blocks changes of a VectorSidecar with an error.
func blockByError(_ *Plan, limit *Limit, _ *tally) *Block { return limit.Error }

// blockBySteps blocks a change that would restart the steps of an Argo Rollout in progress. If the steps have failed,
// it blocks only injections, because an existing sidecar may be the cause of the failure.
func blockBySteps(p *Plan, _ *Limit, _ *tally) *Block {
	if !p.Workload.IsBetween || p.Workload.Rollout == workload.RolloutFailed && p.Change != Inject {
		return nil
	}
	return &Block{Kind: BlockedBySteps, Reason: meta.ReasonWaitingForSteps, Message: "waiting for the Argo Rollout to finish its steps; a new pod template would restart them"}
}

// blockByMaxAgeHold blocks a change that has waited for spec.rollout.maxAge while limit.MaxAgeHold is set. A pause has
// its own block.
func blockByMaxAgeHold(p *Plan, limit *Limit, _ *tally) *Block {
	if !p.MaxAgeExpired || limit.Paused {
		return nil
	}
	return limit.MaxAgeHold
}

// blockByPause blocks changes while spec.rollout.paused is true.
func blockByPause(_ *Plan, limit *Limit, _ *tally) *Block {
	if !limit.Paused {
		return nil
	}
	return &Block{Kind: BlockedByPause, Reason: meta.ReasonRolloutPaused, Message: "spec.rollout.paused is true"}
}

// blockByFailure blocks changes after the rollout of a workload has failed.
func blockByFailure(_ *Plan, _ *Limit, counts *tally) *Block {
	if counts.failed == nil {
		return nil
	}
	target := counts.failed.Target
	return &Block{Kind: BlockedByFailure, Reason: meta.ReasonRolloutFailed, Message: fmt.Sprintf("waiting because the rollout of %s %s failed; rollouts continue when it recovers or the sidecar changes", target.Kind, target.Name)}
}

// blockByWindow blocks changes between two rollout windows. A workload that was created after the last window closed
// gets its first sidecar immediately.
func blockByWindow(p *Plan, limit *Limit, _ *tally) *Block {
	window := limit.ClosedWindow
	if window == nil || p.Change == Inject && !window.ClosedAt.IsZero() && p.Workload.Created.After(window.ClosedAt) {
		return nil
	}
	return window.block()
}

// blockByRejection blocks a write that was rejected before, until its next retry.
func blockByRejection(p *Plan, _ *Limit, _ *tally) *Block {
	if !p.waitsForRetry() {
		return nil
	}
	return p.Rejection.block()
}

// blockByCanary blocks changes of workloads that are not canaries while a canary rolls out.
func blockByCanary(p *Plan, _ *Limit, counts *tally) *Block {
	if counts.canary == nil || p.IsCanary {
		return nil
	}
	target := counts.canary.Target
	return &Block{Kind: BlockedByCanary, Reason: meta.ReasonWaitingForCanary, Message: fmt.Sprintf("waiting for canary %s %s to finish its rollout (spec.rollout.canary)", target.Kind, target.Name)}
}

// blockByMissingCanary blocks changes of workloads that are not canaries while no canary has run the sidecar for the
// soak time.
func blockByMissingCanary(p *Plan, limit *Limit, counts *tally) *Block {
	if limit.Unproven == "" || !counts.lacksEvidence || p.IsCanary {
		return nil
	}
	return &Block{Kind: BlockedByMissingCanary, Reason: meta.ReasonWaitingForCanary, Message: limit.Unproven}
}

// blockByHealthy blocks the change of a workload that failed before while a healthy workload waits for a slot.
func blockByHealthy(p *Plan, _ *Limit, counts *tally) *Block {
	if !p.Rollout.FailedBefore || !counts.isQueued {
		return nil
	}
	return &Block{Kind: BlockedByHealthy, Reason: meta.ReasonWaitingForHealthy, Message: "waiting because the workload failed before this change; it gets the change when no healthy workload waits for a rollout slot"}
}

// blockBySlots blocks changes while all rollout slots of the VectorSidecar are in use. A workload with a rollout in
// progress does not need another slot, because the new rollout replaces the current one.
func blockBySlots(p *Plan, limit *Limit, counts *tally) *Block {
	used := counts.inFlight
	if p.Rollout.FailedBefore {
		used += counts.inFlightFailed
	}
	if p.Rollout.InFlight || limit.Max == 0 || used < limit.Max {
		return nil
	}
	return &Block{Kind: BlockedBySlot, Reason: meta.ReasonWaitingForSlot, Message: limit.waitMessage()}
}
