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

// Class is a class of rollouts with separate rollout slots, so that a removal never waits for other rollouts.
type Class string

const (
	// Injections is the class of rollouts that inject or update a sidecar.
	Injections Class = "injection"
	// Removals is the class of rollouts that remove a sidecar.
	Removals Class = "removal"
)

// Classes returns all classes.
func Classes() []Class { return []Class{Injections, Removals} }

// Class returns the class of the plan's rollout.
func (p *Plan) Class() Class {
	if p.Desired == nil || p.Change == Remove {
		return Removals
	}
	return Injections
}

// StartsRollout reports whether the plan starts a rollout now.
func (p *Plan) StartsRollout() bool { return p.Writes() && p.StartsPods() && !p.Rollout.InFlight }

// RunningAndDeferred reports whether at least one workload runs the current sidecar, and whether at least one
// workload gets it later.
func RunningAndDeferred(plans []Plan) (isRunning, isDeferred bool) {
	for i := range plans {
		p := &plans[i]
		isRunning = isRunning || p.Desired != nil && p.State() == Updated
		isDeferred = isDeferred || p.IsDeferred()
	}
	return isRunning, isDeferred
}

// IsSettled reports whether the plans, after they were admitted and applied, have reached a state that only a
// user can change. All plans are finished, or the other plans wait for one of these causes:
//
//   - a failed workload
//   - a workload that has been without all of its pods for a long time
//   - a rejected write
//
// Workloads that failed before do not count. The caller reports whether writes failed that would fail again. IsSettled
// also returns the time until the next check if no event occurs, or 0 for no check.
func IsSettled(plans []Plan, isRefused bool, now time.Time) (isSettled bool, requeueAfter time.Duration) {
	var isMoving, isWaiting, isStuck bool
	for i := range plans {
		p := &plans[i]
		starts := !p.IsWaiting() && p.StartsPods()
		switch {
		case p.Class() != Injections, p.Rollout.FailedBefore:
		case p.Rollout.Phase == RolloutFailed, starts && (isRefused || p.IsBlockedBy(BlockedByRejection)):
			isStuck = true
		case p.Rollout.InFlight && p.Workload.Rollout == workload.RolloutUnavailable:
			remaining := workload.Deadline - p.Workload.TimeInState(now)
			if isStuck = isStuck || remaining <= 0; remaining > 0 {
				isMoving, requeueAfter = true, max(requeueAfter, remaining)
			}
		case p.Rollout.InFlight, starts:
			isMoving = true
		case p.IsWaiting() && p.Block.Kind.BlocksOthers():
			isWaiting = true
		}
	}
	return !isMoving && (!isWaiting || isStuck), requeueAfter
}

// HasRollouts reports whether an injection or update is in progress, or will start now or later.
func HasRollouts(plans []Plan) bool {
	return slices.ContainsFunc(plans, func(p Plan) bool { return p.Class() == Injections && (p.Rollout.InFlight || p.StartsPods()) })
}

// CountInProgress returns the numbers of rollouts of a class that are in progress after the plans of the written
// workloads have been applied. healthy excludes the workloads that failed before, and failed counts only these.
func CountInProgress(plans []Plan, class Class, written map[types.UID]bool) (healthy, failed int) {
	for i := range plans {
		p := &plans[i]
		isInProgress := p.Class() == class && (p.Rollout.InFlight || p.StartsPods() && written[p.Target.UID])
		switch {
		case isInProgress && p.Rollout.FailedBefore:
			failed++
		case isInProgress:
			healthy++
		}
	}
	return healthy, failed
}

// Grant returns the plans with a block for all rollouts of a class that would start, except the first ones in their order.
// It uses the memory of its argument, as append does, so the caller uses only the result.
func Grant(plans []Plan, class Class, granted int, limit int) []Plan {
	for p := range bySlotOrder(plans) {
		if p.Class() != class || !p.StartsRollout() {
			continue
		}
		if granted--; granted < 0 {
			*p = p.WithBlock(p.queueBlock(&Block{Kind: BlockedByGlobalSlot, Reason: meta.ReasonWaitingForGlobalSlot, Message: fmt.Sprintf("waiting for a rollout slot: at most %d rollouts at once across all VectorSidecars (rollout.maxConcurrent)", limit)}))
		}
	}
	return plans
}
