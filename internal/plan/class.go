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

// Class is a class of rollouts that has its own rollout slots. Because of the classes, a removal never waits for an
// injection.
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

// RunningAndDeferred reports whether at least one workload runs the current sidecar, and whether the change of at least
// one workload is deferred.
func RunningAndDeferred(plans []Plan) (isRunning, isDeferred bool) {
	for i := range plans {
		p := &plans[i]
		isRunning = isRunning || p.Desired != nil && p.State() == Updated
		isDeferred = isDeferred || p.IsDeferred()
	}
	return isRunning, isDeferred
}

// IsSettled reports whether only a user can change the state of the plans, after they were admitted and applied. Either
// all rollouts are finished, or the unfinished ones wait for one of these causes:
//
//   - a failed workload
//   - a workload that has been without all of its pods for a long time
//   - a rejected write
//
// Workloads that failed before do not count. isRefused reports whether the API server has rejected writes that it would
// reject again. requeueAfter is the time until the next check if no event occurs, or 0 if no check is needed.
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

// HasRollouts reports whether an injection or update is in progress, starts now, or waits to start.
func HasRollouts(plans []Plan) bool {
	return slices.ContainsFunc(plans, func(p Plan) bool { return p.Class() == Injections && (p.Rollout.InFlight || p.StartsPods()) })
}

// CountInProgress returns how many rollouts of a class are in progress, assuming that the plans of the written
// workloads have been applied. failed is the number of workloads that failed before, and healthy the number of the
// others.
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

// Grant limits the rollouts of a class across VectorSidecars: the first granted rollouts in the order of slots may
// start, and the plans of the others get a block. It changes the given slice, as append does, so callers must use only
// the result.
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
