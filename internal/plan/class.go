// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Class is a kind of rollout with its own rollout slots. A removal never waits for other rollouts.
type Class string

const (
	// Injections inject or update a sidecar.
	Injections Class = "injection"
	// Removals remove a sidecar.
	Removals Class = "removal"
)

// Classes returns all classes.
func Classes() []Class { return []Class{Injections, Removals} }

// Class returns the class of the plan's rollout.
func (p *Plan) Class() Class {
	if p.Desired == nil || p.Action == Remove {
		return Removals
	}
	return Injections
}

// StartsRollout reports whether the plan starts a rollout now.
func (p *Plan) StartsRollout() bool { return p.Writes() && p.StartsPods() && !p.InFlight }

// RunningAndDeferred reports whether a workload runs the current sidecar, and whether a workload gets it later.
func RunningAndDeferred(plans []Plan) (isRunning, isDeferred bool) {
	for i := range plans {
		p := &plans[i]
		isRunning = isRunning || p.Desired != nil && p.Phase() == Updated
		isDeferred = isDeferred || p.Action == Defer
	}
	return isRunning, isDeferred
}

// IsSettled reports whether admitted and applied plans have reached a final state without a user action. All
// plans are finished, or the remaining plans wait for a failed workload, for a workload that has long been
// without all of its pods, or for a rejected write. Workloads that failed before do not count. The caller
// reports whether writes failed that would fail again. The second result is the time until the next check
// without an event, or 0 for no check.
func IsSettled(plans []Plan, isRefused bool, now time.Time) (isSettled bool, requeueAfter time.Duration) {
	var isMoving, isWaiting, isStuck bool
	for i := range plans {
		p := &plans[i]
		starts := !p.Waiting && p.StartsPods()
		switch {
		case p.Class() != Injections, p.FailedBefore:
		case p.Failed, starts && (isRefused || p.Withheld):
			isStuck = true
		case p.InFlight && p.Rollout == workload.RolloutUnavailable:
			remaining := workload.Deadline - p.TimeInState(now)
			if isStuck = isStuck || remaining <= 0; remaining > 0 {
				isMoving, requeueAfter = true, max(requeueAfter, remaining)
			}
		case p.InFlight, starts:
			isMoving = true
		case p.Waiting && p.Reason != meta.ReasonRolloutPaused:
			isWaiting = true
		}
	}
	return !isMoving && (!isWaiting || isStuck), requeueAfter
}

// HasRollouts reports whether a rollout with a sidecar is in progress, or will start now or later.
func HasRollouts(plans []Plan) bool {
	return slices.ContainsFunc(plans, func(p Plan) bool { return p.Class() == Injections && (p.InFlight || p.StartsPods()) })
}

// UnderWay counts the rollouts of a class that are in progress after some of the plans have been applied, by
// the UIDs of their workloads. The second result counts the rollouts of workloads that failed before.
func UnderWay(plans []Plan, class Class, written map[types.UID]bool) (healthy, failed int) {
	for i := range plans {
		p := &plans[i]
		isUnderWay := p.Class() == class && (p.InFlight || p.StartsPods() && written[p.Target.UID])
		switch {
		case isUnderWay && p.FailedBefore:
			failed++
		case isUnderWay:
			healthy++
		}
	}
	return healthy, failed
}

// Grant allows the granted number of plans of a class to start a rollout, in order. The other plans wait.
func Grant(plans []Plan, class Class, granted int, limit int) {
	for p := range inTurn(plans) {
		if p.Class() != class || !p.StartsRollout() {
			continue
		}
		if granted--; granted < 0 {
			p.queue(meta.ReasonWaitingForGlobalSlot, fmt.Sprintf("waiting for a rollout slot: at most %d rollouts at once over all VectorSidecars (rollout.maxConcurrent)", limit))
		}
	}
}
