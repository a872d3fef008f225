// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"iter"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// maxListed is the maximum number of workloads that status.workloads lists. status.workloadsOmitted is the number of
// the others.
const maxListed = 20

const (
	failed       = v1alpha1.StateFailed
	podsBlocked  = v1alpha1.StatePodsBlocked
	rejected     = v1alpha1.StateRejected
	conflict     = v1alpha1.StateConflict
	blocked      = v1alpha1.StateBlocked
	removing     = v1alpha1.StateRemoving
	rollingOut   = v1alpha1.StateRollingOut
	soaking      = v1alpha1.StateSoaking
	unavailable  = v1alpha1.StateUnavailable
	waiting      = v1alpha1.StateWaiting
	podsOutdated = v1alpha1.StatePodsOutdated
	podsMissing  = v1alpha1.StateWithoutPods
	deferred     = v1alpha1.StateDeferred
	skipped      = v1alpha1.StateSkipped

	updated = plan.Updated
	bare    = plan.Bare
)

// listedPhases are the phases of workloads that status.workloads lists, the most important first. After a restart, the
// operator reads from this list which workloads have not soaked yet, so soaking must be early in the list.
var listedPhases = []plan.State{failed, podsBlocked, rejected, conflict, blocked, removing, rollingOut, soaking, unavailable, waiting, podsOutdated, podsMissing, deferred, skipped}

// phaseFor returns the phase of a workload after a reconcile. rejections are the failed writes by the name of their
// object.
func phaseFor(p *plan.Plan, rejections map[string]decision.Result) plan.State {
	if len(rejections) > 0 { // Formatting the names of thousands of workloads would be the slowest part of this package.
		if _, isRejected := rejections[WorkloadTitle(p.Target)]; isRejected {
			return rejected
		}
	}
	return p.State()
}

// hasCurrentSidecar reports whether a workload in a phase has the current sidecar.
func hasCurrentSidecar(phase plan.State) bool {
	switch phase {
	case updated, failed, podsBlocked, rollingOut, soaking, unavailable, podsOutdated, podsMissing:
		return true
	default:
		return false
	}
}

// countWorkloads sets the counts of a status, and lists the workloads that are not up to date.
func countWorkloads(status *v1alpha1.VectorSidecarStatus, facts Facts) {
	rejections, counted := rejectionsByObject(facts), counts{}
	mixed, lists := false, map[plan.State][]v1alpha1.WorkloadStatus{}
	for i := range facts.Decision.Plans {
		p := &facts.Decision.Plans[i]
		phase := phaseFor(p, rejections)
		counted.add(p.Target.Kind, phase)
		if hasCurrentSidecar(phase) && p.LacksPods() {
			counted.add(p.Target.Kind, unproven)
		}
		if hasCurrentSidecar(phase) {
			mixed = mixed || status.InjectedHash != "" && status.InjectedHash != p.SidecarHash()
			status.InjectedHash = p.SidecarHash()
		}
		if phase == updated || phase == bare {
			continue
		}
		status.WorkloadsOmitted++
		if len(lists[phase]) < maxListed {
			lists[phase] = append(lists[phase], newWorkloadStatus(p, phase, rejections))
		}
	}
	counted.addTo(status)
	status.Kinds = newKindStatuses(&facts.Decision.Kinds, counted)
	for _, phase := range listedPhases {
		room := maxListed - len(status.Workloads)
		status.Workloads = append(status.Workloads, lists[phase][:min(len(lists[phase]), room)]...)
	}
	status.WorkloadsOmitted -= int32(len(status.Workloads)) //nolint:gosec // At most twenty.
	if mixed {
		status.InjectedHash = ""
	}
}

// countEarlierRenderings returns the number of workloads with a sidecar that an earlier release rendered and that stays
// unchanged.
func countEarlierRenderings(plans []plan.Plan) int {
	n := 0
	for i := range plans {
		if plans[i].Existing.UnchangedHash != "" {
			n++
		}
	}
	return n
}

// Workload is the state of one workload after a reconcile.
type Workload struct {
	Target workload.Ref
	// State and Reason have the values of status.workloads. State is "Updated" for a workload that is up to date.
	State, Reason string
	// IsLongWait reports whether the workload waits for a rollout window, a wave or the end of a halt, even if rollout
	// slots are free.
	IsLongWait bool
}

// Workloads yields the state of every workload that the VectorSidecar matches or that has its sidecar.
func Workloads(facts Facts) iter.Seq[Workload] {
	return func(yield func(Workload) bool) {
		rejections := rejectionsByObject(facts)
		for i := range facts.Decision.Plans {
			p := &facts.Decision.Plans[i]
			phase := phaseFor(p, rejections)
			isLongWait := p.Block != nil && p.Block.Kind.IsLongWait()
			if phase != bare && !yield(Workload{Target: p.Target, State: string(phase), Reason: reasonFor(p, phase, rejections), IsLongWait: isLongWait}) {
				return
			}
		}
	}
}

// rejectionsByObject returns the failed writes by the name of their object, which is a result of Object.
func rejectionsByObject(facts Facts) map[string]decision.Result {
	rejections := map[string]decision.Result{}
	for _, failure := range facts.Results.Failures() {
		rejections[failure.Object] = failure
	}
	return rejections
}

// reasonFor returns the reason of a workload in status.workloads: the reason of the rejected write, or the reason of
// the plan.
func reasonFor(p *plan.Plan, phase plan.State, rejections map[string]decision.Result) string {
	if phase == rejected {
		return rejections[WorkloadTitle(p.Target)].Reason
	}
	return p.Reason()
}

// newWorkloadStatus returns the entry of a workload in status.workloads.
func newWorkloadStatus(p *plan.Plan, phase plan.State, rejections map[string]decision.Result) v1alpha1.WorkloadStatus {
	entry := v1alpha1.WorkloadStatus{Kind: p.Target.Kind, Name: p.Target.Name, State: phase, Reason: reasonFor(p, phase, rejections), Message: p.Message()}
	if phase == rejected {
		entry.Message = rejections[WorkloadTitle(p.Target)].Err.Error()
	}
	entry.Message = humanize.ShortenMessage(entry.Message, 512)
	return entry
}
