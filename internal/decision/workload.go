// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Workload is one workload of a decision.
type Workload struct {
	Record    *workloadcache.Record
	Evaluated *Evaluated
	// Source is the source that the sidecar is rendered from, or nil for a workload that should not have a sidecar.
	Source *desired.Source
	// HadSidecar is true if a workload with a controller owner is known to have had the sidecar. LastWriter is the
	// last writer at that time.
	HadSidecar bool
	LastWriter string
	// Started is the generation after the last write to the workload, or 0 if it is not known.
	Started int64
}

// currentPlan returns the evaluated plan with the state of the workload, and with the change of its record.
func (w *Workload) currentPlan() plan.Plan {
	p := w.Evaluated.Plan
	p.Workload = w.Record.State()
	if p.Owner != nil && p.HasChange(plan.Adopt) && w.HadSidecar {
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
