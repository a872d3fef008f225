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

// PacedPlans are the admitted plans of one VectorSidecar.
type PacedPlans struct {
	Sidecar types.NamespacedName
	Plans   []plan.Plan
	Limit   plan.Limit
	// Matched is the number of workloads that the VectorSidecar matches.
	Matched int
}

// Batches returns, for each plan of each VectorSidecar, the batch in which the plan is carried out, if every rollout of
// a batch finishes before the next batch. Batch 1 is now. Batch 0 means never under the present conditions, or
// nothing to do. If no rollout window is open, the second batch starts when the next window opens. Batches does not
// change the plans.
func Batches(sidecars []PacedPlans, rules *fleet.Rules) [][]int {
	batches, current := make([][]int, len(sidecars)), slices.Clone(sidecars)
	var names []types.NamespacedName
	isClosed := false
	for i := range current {
		batches[i], current[i].Plans = make([]int, len(current[i].Plans)), slices.Clone(current[i].Plans)
		names, isClosed = append(names, current[i].Sidecar), isClosed || current[i].Limit.ClosedWindow != nil
	}
	allocators := allocatorsFor(names)
	for batch := 1; ; batch++ {
		assignSlots(current, allocators, rules)
		isMoving := batch == 1 && isClosed
		for i := range current {
			isMoving = current[i].finishRollouts(batch, batches[i]) || isMoving
			current[i].Limit.ClosedWindow = nil
			current[i].Plans = plan.Admit(current[i].Plans, current[i].Limit)
		}
		if !isMoving {
			return batches
		}
	}
}

// Share assigns the rollout slots of an installation to the plans of its VectorSidecars. It replaces the other plans by
// plans that wait.
func Share(sidecars []PacedPlans, rules *fleet.Rules) {
	var names []types.NamespacedName
	for i := range sidecars {
		names = append(names, sidecars[i].Sidecar)
	}
	assignSlots(sidecars, allocatorsFor(names), rules)
}

// zeroClock is the clock of a preview. It always returns the same time, because a preview does not use rollout slots for
// long.
func zeroClock() time.Time { return time.Time{} }

// allocatorsFor returns a slot allocator for each class of plans, which expects a report from each VectorSidecar.
func allocatorsFor(names []types.NamespacedName) map[plan.Class]*fleet.SlotAllocator {
	allocators := map[plan.Class]*fleet.SlotAllocator{}
	for _, class := range plan.Classes() {
		allocators[class] = fleet.NewSlotAllocator(zeroClock)
		allocators[class].ExpectReports(names)
	}
	return allocators
}

// assignSlots assigns the rollout slots to the VectorSidecars that request them.
func assignSlots(sidecars []PacedPlans, allocators map[plan.Class]*fleet.SlotAllocator, rules *fleet.Rules) {
	for class, allocator := range allocators {
		demandOf := func(sidecar *PacedPlans) fleet.Demand {
			demand := decision.CountDemand(sidecar.Plans, class)
			demand.Matched = sidecar.Matched
			return demand
		}
		for i := range sidecars {
			allocator.SetDemand(sidecars[i].Sidecar, demandOf(&sidecars[i]))
		}
		for i := range sidecars {
			granted, _ := allocator.Reserve(sidecars[i].Sidecar, demandOf(&sidecars[i]), rules)
			sidecars[i].Plans = plan.Grant(sidecars[i].Plans, class, granted, allocator.Usage(rules).Limit)
		}
	}
}

// finishRollouts records the batch of the plans that are carried out now, and completes them and the rollouts in progress. It
// returns false if there were none of either.
func (p *PacedPlans) finishRollouts(batch int, batches []int) bool {
	isMoving := false
	for i := range p.Plans {
		workloadPlan := &p.Plans[i]
		if workloadPlan.Writes() && workloadPlan.StartsPods() {
			batches[i], isMoving = batch, true
			workloadPlan.Change = plan.None
			workloadPlan.Rollout.HasEvidence = workloadPlan.Rollout.HasEvidence || workloadPlan.Desired != nil && workloadPlan.Workload.Idle == ""
		}
		if workloadPlan.Rollout.InFlight {
			workloadPlan.Rollout.InFlight, workloadPlan.Rollout.HasEvidence, isMoving = false, workloadPlan.Rollout.HasEvidence || workloadPlan.Workload.Evidence > 0 || workloadPlan.Workload.Idle == "", true
		}
		if workloadPlan.IsWaiting() && !workloadPlan.IsStopped() {
			workloadPlan.Block = nil
		}
	}
	return isMoving
}
