// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
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

// class is that of the plan's rollout.
func (p *Plan) class() Class {
	if p.Desired == nil || p.Action == Remove {
		return Removals
	}
	return Injections
}

// begins reports whether the plan begins a rollout now.
func (p *Plan) begins() bool { return p.Writes() && p.StartsPods() && !p.InFlight }

// DemandOf counts, among admitted plans, the rollouts of a class that are under way and
// those that would begin. It leaves Matched to the caller.
func DemandOf(plans []Plan, class Class) fleet.Demand {
	var demand fleet.Demand
	for i := range plans {
		switch p := &plans[i]; {
		case p.class() != class:
		case p.InFlight:
			demand.UnderWay++
		case p.begins():
			demand.Wanted++
		}
	}
	return demand
}

// ProgressOf says how far plans are with their sidecar: those that were admitted, after some
// have been carried out.
func ProgressOf(plans []Plan, isWritten bool) fleet.Progress {
	progress := fleet.Progress{IsBegun: isWritten, IsDone: !isWritten}
	for i := range plans {
		p := &plans[i]
		if p.SidecarFailed {
			progress.Failed++
		}
		if p.class() != Injections {
			continue
		}
		progress.IsBegun, progress.IsLate = progress.IsBegun || p.InFlight, progress.IsLate || p.Late
		isPaused := p.Waiting && p.Reason == meta.ReasonRolloutPaused
		progress.IsPaused = progress.IsPaused || isPaused
		isNext := p.Writes() && p.StartsPods() || p.Waiting && !isPaused
		progress.IsDone = progress.IsDone && !p.InFlight && !isNext
	}
	return progress
}

// IsEverywhere reports whether a workload runs the current sidecar, and none gets it later.
func IsEverywhere(plans []Plan) bool {
	isDeferred := func(p Plan) bool { return p.Action == Defer }
	runs := func(p Plan) bool { return p.Desired != nil && p.Phase() == Updated }
	return slices.ContainsFunc(plans, runs) && !slices.ContainsFunc(plans, isDeferred)
}

// HasRollouts reports whether a rollout with a sidecar is under way, or will begin now or later.
func HasRollouts(plans []Plan) bool {
	return slices.ContainsFunc(plans, func(p Plan) bool { return p.class() == Injections && (p.InFlight || p.StartsPods()) })
}

// UnderWay counts the rollouts of a class that are under way after some of the plans have
// been carried out, by the UIDs of their workloads.
func UnderWay(plans []Plan, class Class, done map[types.UID]bool) int {
	count := 0
	for i := range plans {
		if p := &plans[i]; p.class() == class && (p.InFlight || p.StartsPods() && done[p.Target.UID]) {
			count++
		}
	}
	return count
}

// Grant has the first plans of a class that would begin a rollout do so, as many as were
// granted; the others wait.
func Grant(plans []Plan, class Class, granted int, limit int) {
	for i := range plans {
		p := &plans[i]
		if p.class() != class || !p.begins() {
			continue
		}
		if granted--; granted < 0 {
			p.Wait(meta.ReasonWaitingForFleet, fmt.Sprintf("the installation's rollout.maxConcurrent lets %d rollouts go on at once, over all VectorSidecars", limit))
		}
	}
}
