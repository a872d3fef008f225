// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package pace says which of the plans may be carried out now: never more
// rollouts at once than allowed, and none while one of them has failed. It does
// not carry them out, and it remembers nothing.
package pace

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Limit is how much may go on at once.
type Limit struct {
	// Max is the number of workloads whose rollout was started and has not
	// finished; 0 for no limit.
	Max int
	// Paused lets nothing new begin.
	Paused bool
}

// Admit marks the plans that have to wait, with the reason. The order of the
// plans is the order in which they are let go.
func Admit(plans []plan.Plan, limit Limit) {
	inFlight, failed := 0, ""
	for i := range plans {
		p := &plans[i]
		if p.InFlight {
			inFlight++
		}
		if failed == "" && p.Desired != nil && p.IsCurrent() && p.Rollout == workload.RolloutFailed {
			failed = p.Target.Name
		}
	}
	for i := range plans {
		p := &plans[i]
		if !p.Writes() || !p.StartsPods() {
			continue
		}
		switch {
		case limit.Paused:
			p.Wait(meta.ReasonRolloutPaused, "spec.rollout.paused is true")
		case failed != "" && p.Action != plan.Remove:
			p.Wait(meta.ReasonRolloutFailed, fmt.Sprintf("Deployment %s did not finish its rollout with this sidecar: nothing more is started until it does, or the sidecar changes", failed))
		case p.InFlight:
			// It is replaced by its newest version and stays one rollout.
		case limit.Max > 0 && inFlight >= limit.Max:
			p.Wait(meta.ReasonWaitingForBudget, fmt.Sprintf("spec.rollout.maxConcurrent lets %d rollouts go on at once", limit.Max))
		default:
			inFlight++
		}
	}
}
