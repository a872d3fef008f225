// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// startup is how long a workload may be without all of its pods before a write without counting as failed before
// it. A new workload gets its sidecar sooner, so that what fails then is a failure of the write.
const startup = 10 * time.Second

// findFailedBefore sets whether the workload failed before the write of the plan, or before the last one if the plan
// makes none, and makes the write record that.
func (d *Decision) findFailedBefore(f *Facts, p *plan.Plan) {
	switch {
	case p.Desired == nil, f.Now.IsZero():
	case p.Action == plan.Adopt && f.waitedAsFailed(p): // The API server has injected the sidecar in a request of the owner.
		p.FailedBefore = true
		p.MarkFailure()
	case p.IsCurrent():
		p.FailedBefore = p.HasFailureMark && !f.hasRecovered(p)
	case p.StartsPods():
		if p.HasFailureMark {
			p.FailedBefore = !f.hasRecovered(p)
		} else {
			p.FailedBefore = f.isFailing(p) && !f.mayFailBySidecar(p)
		}
		if p.FailedBefore {
			p.MarkFailure()
		}
	}
}

// isFailing reports whether a workload is in a state that would count as a failure after a write, and for longer
// than it takes to start.
func (f *Facts) isFailing(p *plan.Plan) bool {
	switch {
	case p.Rollout == workload.RolloutFailed, p.Refusal != "":
		return true
	case p.Rollout == workload.RolloutUnavailable, p.Rollout == workload.RolloutProgressing && p.IsDown:
		return p.TimeInState(f.Now) >= startup
	}
	return false
}

// mayFailBySidecar reports whether the sidecar that the workload has may be the cause of its failure: then the next
// one is tried in it like in any other.
func (f *Facts) mayFailBySidecar(p *plan.Plan) bool {
	fault, isSeen := f.Faults[p.Target.UID]
	switch {
	case !p.HasSidecar:
		return false
	case p.Refusal != "":
		return true // The sidecar's requests are part of the pods that are refused.
	}
	return !isSeen || fault.Reason != ""
}

// hasRecovered reports whether all pods of a workload that are to run have been available for the soak.
func (f *Facts) hasRecovered(p *plan.Plan) bool {
	return p.Rollout == workload.PodsNotReplaced || p.Rollout == workload.RolloutComplete && !p.State.LacksPods() && f.steadiest(p) >= f.soak()
}

// waitedAsFailed reports whether the last status says that the workload waits because it failed before.
func (f *Facts) waitedAsFailed(p *plan.Plan) bool {
	for i := range f.Sidecar.Status.Workloads {
		if status := &f.Sidecar.Status.Workloads[i]; status.Is(p.Target.Kind, p.Target.Name) {
			return status.Reason == meta.ReasonWaitingForHealthy
		}
	}
	return false
}
