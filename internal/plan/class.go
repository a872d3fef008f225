// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/types"

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

// Class is that of the plan's rollout.
func (p *Plan) Class() Class {
	if p.Desired == nil || p.Action == Remove {
		return Removals
	}
	return Injections
}

// Begins reports whether the plan begins a rollout now.
func (p *Plan) Begins() bool { return p.Writes() && p.StartsPods() && !p.InFlight }

// IsEverywhere reports whether a workload runs the current sidecar, and none gets it later.
func IsEverywhere(plans []Plan) bool {
	isDeferred := func(p Plan) bool { return p.Action == Defer }
	runs := func(p Plan) bool { return p.Desired != nil && p.Phase() == Updated }
	return slices.ContainsFunc(plans, runs) && !slices.ContainsFunc(plans, isDeferred)
}

// HasRollouts reports whether a rollout with a sidecar is under way, or will begin now or later.
func HasRollouts(plans []Plan) bool {
	return slices.ContainsFunc(plans, func(p Plan) bool { return p.Class() == Injections && (p.InFlight || p.StartsPods()) })
}

// UnderWay counts the rollouts of a class that are under way after some of the plans have
// been carried out, by the UIDs of their workloads.
func UnderWay(plans []Plan, class Class, done map[types.UID]bool) int {
	count := 0
	for i := range plans {
		if p := &plans[i]; p.Class() == class && (p.InFlight || p.StartsPods() && done[p.Target.UID]) {
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
		if p.Class() != class || !p.Begins() {
			continue
		}
		if granted--; granted < 0 {
			p.Wait(meta.ReasonWaitingForFleet, fmt.Sprintf("the installation's rollout.maxConcurrent lets %d rollouts go on at once, over all VectorSidecars", limit))
		}
	}
}
