// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// evaluatedWorkload is one workload of a decision with its evaluation.
type evaluatedWorkload struct {
	// Record is the workload now. The Record of an earlier evaluation may have another rollout state.
	Record    *workloadcache.Record
	Evaluated *Evaluated
	// Source is the source that the sidecar is rendered from, or nil for a workload that should not have a sidecar.
	Source *desired.Source
}

// currentPlan returns the evaluated plan with the state of the workload, and with the change of its record.
func (w *evaluatedWorkload) currentPlan(input *Input) plan.Plan {
	p := w.Evaluated.Plan
	p.Workload = w.Record.State()
	if _, hadSidecar := input.ownedSidecar(&p); hadSidecar && p.HasChange(plan.Adopt) {
		// A controller that replaces the whole workload clears the operator's field ownership each time. To adopt the
		// fields again would cause an event for the controller, which would replace the workload again, and so on
		// forever.
		p.Change, p.Write.Apply, p.Write.Cause = plan.None, nil, ""
	}
	if p.HasChange(plan.None) && p.Existing.Waits {
		view := w.Record.View()
		p.Change, p.Write.Apply, p.Write.ReleaseOnly = plan.RecordOnly, plan.NewWaitRemoval(p.Manager, &view), false
	}
	return p
}
