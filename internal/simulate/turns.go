// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Paced are the admitted plans of one VectorSidecar.
type Paced struct {
	Sidecar types.NamespacedName
	Plans   []plan.Plan
	Limit   plan.Limit
	// Matched is the number of workloads that the VectorSidecar matches.
	Matched int
}

// Turns returns, for each plan of each VectorSidecar, the batch in which the plan is carried out, if every rollout of
// a batch finishes before the next batch. Batch 1 is now. Batch 0 means never under the present conditions, or
// nothing to do. If no rollout window is open, the second batch starts when the next window opens. Turns does not
// change the plans.
func Turns(all []Paced, rules *fleet.Rules) [][]int {
	turns, now := make([][]int, len(all)), slices.Clone(all)
	var names []types.NamespacedName
	isClosed := false
	for i := range now {
		turns[i], now[i].Plans = make([]int, len(now[i].Plans)), slices.Clone(now[i].Plans)
		names, isClosed = append(names, now[i].Sidecar), isClosed || now[i].Limit.ClosedWindow != nil
	}
	allocators := allocatorsFor(names)
	for turn := 1; ; turn++ {
		divide(now, allocators, rules)
		isMoving := turn == 1 && isClosed
		for i := range now {
			isMoving = now[i].finish(turn, turns[i]) || isMoving
			now[i].Limit.ClosedWindow = nil
			plan.Admit(now[i].Plans, now[i].Limit)
		}
		if !isMoving {
			return turns
		}
	}
}

// Share assigns the rollout slots of an installation to the plans of its VectorSidecars. The other plans wait.
func Share(all []Paced, rules *fleet.Rules) {
	var names []types.NamespacedName
	for i := range all {
		names = append(names, all[i].Sidecar)
	}
	divide(all, allocatorsFor(names), rules)
}

// stands is the clock of a preview. It always returns the same time, because a preview does not use rollout slots for
// long.
func stands() time.Time { return time.Time{} }

func allocatorsFor(names []types.NamespacedName) map[plan.Class]*fleet.Allocator {
	allocators := map[plan.Class]*fleet.Allocator{}
	for _, class := range plan.Classes() {
		allocators[class] = fleet.NewAllocator(stands)
		allocators[class].Await(names)
	}
	return allocators
}

// divide assigns the rollout slots to the VectorSidecars that request them.
func divide(all []Paced, allocators map[plan.Class]*fleet.Allocator, rules *fleet.Rules) {
	for class, allocator := range allocators {
		demandOf := func(one *Paced) fleet.Demand {
			demand := decision.DemandOf(one.Plans, class)
			demand.Matched = one.Matched
			return demand
		}
		for i := range all {
			allocator.Tell(all[i].Sidecar, demandOf(&all[i]))
		}
		for i := range all {
			granted, _ := allocator.Ask(all[i].Sidecar, demandOf(&all[i]), rules)
			plan.Grant(all[i].Plans, class, granted, allocator.Places(rules).Limit)
		}
	}
}

// finish records the batch of the plans that are carried out now, and completes them and the rollouts in progress. It
// returns false if there were none of either.
func (p *Paced) finish(turn int, turns []int) bool {
	isMoving := false
	for i := range p.Plans {
		one := &p.Plans[i]
		if one.Writes() && one.StartsPods() {
			turns[i], isMoving = turn, true
			one.Action = plan.None
			one.HasEvidence = one.HasEvidence || one.Desired != nil && one.Idle == ""
		}
		if one.InFlight {
			one.InFlight, one.HasEvidence, isMoving = false, one.HasEvidence || one.Evidence > 0 || one.Idle == "", true
		}
		one.Waiting = false
	}
	return isMoving
}
