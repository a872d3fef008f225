// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// startup is the time that a workload may take to start its pods. A workload that has lacked pods for longer before a
// write counts as failed before the write. A new workload gets its sidecar sooner, so that its failure counts for the
// sidecar.
const startup = 10 * time.Second

// failedBefore reports whether the workload failed before the plan's write, or before the last write if the plan does not
// write.
func (input *Input) failedBefore(p *plan.Plan) bool {
	switch {
	case p.Desired == nil, input.Now.IsZero():
		return false
	case p.IsCurrent():
		return p.HasChange(plan.Adopt) && input.waitedAsFailed(p) || p.Existing.HasFailureMark && !input.hasRecovered(p)
	case !p.StartsPods():
		return false
	case p.Existing.HasFailureMark:
		return !input.hasRecovered(p)
	}
	return input.isFailing(p) && !input.mayFailBySidecar(p)
}

// isFailing reports whether the workload's state would count as a failure after a write. Pods that are not available
// count only after the time startup.
func (input *Input) isFailing(p *plan.Plan) bool {
	switch {
	case p.Workload.Rollout == workload.RolloutFailed, p.Workload.Refusal != "":
		return true
	case p.Workload.Rollout == workload.RolloutUnavailable, p.Workload.Rollout == workload.RolloutProgressing && p.Workload.IsDown:
		return p.Workload.TimeInState(input.Now) >= startup
	}
	return false
}

// mayFailBySidecar reports whether the workload's current sidecar may be the cause of its failure. If so, the
// operator writes the next sidecar without treating the workload as one that failed before.
func (input *Input) mayFailBySidecar(p *plan.Plan) bool {
	fault, isSeen := input.Faults[p.Target.UID]
	switch {
	case !p.Existing.HasSidecar:
		return false
	case p.Workload.Refusal != "":
		return true // The rejected pods include the sidecar's resource requests.
	}
	return !isSeen || fault.Reason != ""
}

// hasRecovered reports whether all expected pods of a workload have been available for the soak.
func (input *Input) hasRecovered(p *plan.Plan) bool {
	return p.Workload.Rollout == workload.PodsNotReplaced || p.Workload.Rollout == workload.RolloutComplete && !p.Workload.LacksPods() && input.longestAvailability(p) >= input.soak()
}

// waitedAsFailed reports whether the last status has the workload as waiting because it failed before.
func (input *Input) waitedAsFailed(p *plan.Plan) bool {
	for i := range input.Sidecar.Status.Workloads {
		if status := &input.Sidecar.Status.Workloads[i]; status.Is(p.Target.Kind, p.Target.Name) {
			return status.WaitsForHealthy()
		}
	}
	return false
}
