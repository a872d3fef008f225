// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Demand returns the decision's demand for rollout slots, which all VectorSidecars share.
func (d *Decision) Demand(class plan.Class) fleet.Demand {
	demand := CountDemand(d.Plans, class)
	demand.Matched = d.Matched
	return demand
}

// CountDemand counts the rollouts of a class in admitted plans: rollouts in progress and rollouts that would start. The
// caller sets Matched.
func CountDemand(plans []plan.Plan, class plan.Class) fleet.Demand {
	var demand fleet.Demand
	for i := range plans {
		switch p := &plans[i]; {
		case p.Class() != class:
		case p.Rollout.InFlight && p.Rollout.FailedBefore:
			demand.FailedInProgress++
		case p.Rollout.InFlight:
			demand.InProgress++
		case p.StartsRollout() && p.Rollout.FailedBefore:
			demand.FailedWanted++
		case p.StartsRollout():
			demand.Wanted++
		}
	}
	return demand
}

// NewProgress returns the progress of a VectorSidecar from its admitted plans. isWritten is true if some of the plans
// have been written. Waves do not wait for workloads that failed before.
func NewProgress(plans []plan.Plan, isWritten bool) fleet.Progress {
	progress := fleet.Progress{IsStarted: isWritten, IsDone: !isWritten}
	for i := range plans {
		p := &plans[i]
		if p.Rollout.SidecarFailed {
			progress.Failed++
		}
		if p.Rollout.Unexplained {
			progress.Unexplained++
		}
		if p.Rollout.HasEvidence {
			progress.Evidence++
		}
		if p.Class() != plan.Injections {
			continue
		}
		progress.IsStarted, progress.IsLate = progress.IsStarted || p.Rollout.InFlight, progress.IsLate || p.MaxAgeExpired
		if p.Rollout.FailedBefore {
			continue
		}
		progress.IsPaused = progress.IsPaused || p.IsBlockedBy(plan.BlockedByPause)
		isNext := !p.IsWaiting() && p.StartsPods() || p.IsWaiting() && p.Block.Kind.BlocksOthers()
		progress.IsDone = progress.IsDone && !p.Rollout.InFlight && !isNext
	}
	return progress
}
