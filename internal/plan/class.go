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

// Class is one of the two kinds of rollouts that have places of their own: a removal never
// waits for anything else.
type Class string

const (
	// Injections give workloads a sidecar, or another one.
	Injections Class = "injection"
	// Removals take it out.
	Removals Class = "removal"
)

// Classes are all of them.
func Classes() []Class { return []Class{Injections, Removals} }

// Class is that of the plan's rollout.
func (p *Plan) Class() Class {
	if p.Desired == nil || p.Action == Remove {
		return Removals
	}
	return Injections
}

// Begins reports whether the plan begins a rollout now.
func (p *Plan) Begins() bool { return p.Writes() && p.StartsPods() && !p.InFlight }

// Spread reports whether a workload runs the current sidecar, and whether one gets it later.
func Spread(plans []Plan) (isRunning, isDeferred bool) {
	for i := range plans {
		p := &plans[i]
		isRunning = isRunning || p.Desired != nil && p.Phase() == Updated
		isDeferred = isDeferred || p.Action == Defer
	}
	return isRunning, isDeferred
}

// IsSettled reports whether nothing more happens by itself to plans that were admitted and carried out: all are
// done, or what is left waits for one that has failed, or has long been without all of its pods, or its write is
// refused. Workloads that failed before do not count. isRefused is true if writes have failed that would fail again. again is when to look if nothing happens, 0 for never.
func IsSettled(plans []Plan, isRefused bool, now time.Time) (isSettled bool, again time.Duration) {
	var isMoving, isWaiting, isStuck bool
	for i := range plans {
		p := &plans[i]
		begins := !p.Waiting && p.StartsPods()
		switch {
		case p.Class() != Injections, p.FailedBefore:
		case p.Failed, begins && (isRefused || p.Withheld):
			isStuck = true
		case p.InFlight && p.Rollout == workload.RolloutUnavailable:
			left := workload.Deadline - p.For(now)
			if isStuck = isStuck || left <= 0; left > 0 {
				isMoving, again = true, max(again, left)
			}
		case p.InFlight, begins:
			isMoving = true
		case p.Waiting && p.Reason != meta.ReasonRolloutPaused:
			isWaiting = true
		}
	}
	return !isMoving && (!isWaiting || isStuck), again
}

// HasRollouts reports whether a rollout with a sidecar is under way, or will begin now or later.
func HasRollouts(plans []Plan) bool {
	return slices.ContainsFunc(plans, func(p Plan) bool { return p.Class() == Injections && (p.InFlight || p.StartsPods()) })
}

// UnderWay counts the rollouts of a class that are under way after some of the plans have
// been carried out, by the UIDs of their workloads. failed counts those of workloads that failed before.
func UnderWay(plans []Plan, class Class, done map[types.UID]bool) (healthy, failed int) {
	for i := range plans {
		p := &plans[i]
		isUnderWay := p.Class() == class && (p.InFlight || p.StartsPods() && done[p.Target.UID])
		switch {
		case isUnderWay && p.FailedBefore:
			failed++
		case isUnderWay:
			healthy++
		}
	}
	return healthy, failed
}

// Grant lets the first plans of a class that would begin a rollout do so, as many as were
// granted; the others wait.
func Grant(plans []Plan, class Class, granted int, limit int) {
	for p := range inTurn(plans) {
		if p.Class() != class || !p.Begins() {
			continue
		}
		if granted--; granted < 0 {
			p.queue(meta.ReasonWaitingForGlobalSlot, fmt.Sprintf("the installation's rollout.maxConcurrent lets %d rollouts go on at once, over all VectorSidecars", limit))
		}
	}
}
