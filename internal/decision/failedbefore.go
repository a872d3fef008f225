// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// startup is the time for which a workload may lack some pods before a write. If it lacks them for longer, it counts as
// failed before the write. A new workload gets its sidecar sooner, so a later failure counts as a failure of the write.
const startup = 10 * time.Second

// failedBefore reports whether the workload failed before the plan's write, or before the last write if the plan does not
// write.
func (f *Facts) failedBefore(p *plan.Plan) bool {
	switch {
	case p.Desired == nil, f.Now.IsZero():
		return false
	case p.IsCurrent():
		return p.HasChange(plan.Adopt) && f.waitedAsFailed(p) || p.Existing.HasFailureMark && !f.hasRecovered(p)
	case !p.StartsPods():
		return false
	case p.Existing.HasFailureMark:
		return !f.hasRecovered(p)
	}
	return f.isFailing(p) && !f.mayFailBySidecar(p)
}

// isFailing reports whether the workload's state would count as a failure after a write. Unavailable pods count only if
// they have been unavailable for the time startup.
func (f *Facts) isFailing(p *plan.Plan) bool {
	switch {
	case p.Workload.Rollout == workload.RolloutFailed, p.Workload.Refusal != "":
		return true
	case p.Workload.Rollout == workload.RolloutUnavailable, p.Workload.Rollout == workload.RolloutProgressing && p.Workload.IsDown:
		return p.Workload.TimeInState(f.Now) >= startup
	}
	return false
}

// mayFailBySidecar reports whether the workload's current sidecar may be the cause of its failure. If so, the
// operator writes the next sidecar without treating the workload as one that failed before.
func (f *Facts) mayFailBySidecar(p *plan.Plan) bool {
	fault, isSeen := f.Faults[p.Target.UID]
	switch {
	case !p.Existing.HasSidecar:
		return false
	case p.Workload.Refusal != "":
		return true // The rejected pods include the sidecar's resource requests.
	}
	return !isSeen || fault.Reason != ""
}

// hasRecovered reports whether all expected pods of a workload have been available for the soak.
func (f *Facts) hasRecovered(p *plan.Plan) bool {
	return p.Workload.Rollout == workload.PodsNotReplaced || p.Workload.Rollout == workload.RolloutComplete && !p.Workload.LacksPods() && f.longestAvailability(p) >= f.soak()
}

// waitedAsFailed reports whether the last status has the workload as waiting because it failed before.
func (f *Facts) waitedAsFailed(p *plan.Plan) bool {
	for i := range f.Sidecar.Status.Workloads {
		if status := &f.Sidecar.Status.Workloads[i]; status.Is(p.Target.Kind, p.Target.Name) {
			return status.WaitsForHealthy()
		}
	}
	return false
}
