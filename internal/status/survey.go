// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"iter"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// listed is how many unsettled workloads a status lists; the rest is counted.
const listed = 20

// stand is where one workload stands, in the words of status.unsettled.
type stand string

const (
	updated    stand = "Updated"
	rollingOut stand = "RollingOut"
	removing   stand = "Removing"
	waiting    stand = "Waiting"
	conflict   stand = "Conflict"
	blocked    stand = "Blocked"
	skipped    stand = "Skipped"
	failed     stand = "Failed"
	refused    stand = "Refused"
	bare       stand = "Bare" // Nothing is wanted of it and nothing is there.
)

// StandOf tells in the words of status.unsettled where a workload stands; Updated
// if it is settled with the sidecar, Bare if without.
func StandOf(p *plan.Plan) string { return string(standOf(p, nil)) }

// standOf tells where a workload stands after a pass.
func standOf(p *plan.Plan, refusals map[string]Failure) stand {
	isRefused := false
	if len(refusals) > 0 { // To name each of thousands takes longer than all the rest.
		_, isRefused = refusals[Object(p.Target)]
	}
	switch {
	case isRefused:
		return refused
	case p.Waiting:
		return waiting
	case p.Skipped():
		return skipped
	case p.Action == plan.Conflict:
		return conflict
	case p.Action == plan.Blocked:
		return blocked
	case p.Action == plan.Remove, p.Desired == nil && p.InFlight:
		return removing
	case p.Writes() && p.StartsPods():
		return rollingOut
	case p.Desired == nil:
		return bare
	case p.Rollout == workload.RolloutFailed:
		return failed
	case p.Rollout == workload.RolloutProgressing:
		return rollingOut
	}
	return updated
}

// survey counts the workloads by where they stand and lists the unsettled ones.
func survey(status *v1alpha1.VectorSidecarStatus, facts Facts) {
	refusals := refusalsOf(facts)
	mixed := false
	for i := range facts.Decision.Plans {
		p := &facts.Decision.Plans[i]
		at := standOf(p, refusals)
		switch at {
		case updated:
			status.UpdatedDeployments++
		case waiting:
			status.WaitingDeployments++
		case conflict, blocked, refused:
			status.ConflictingDeployments++
		case skipped:
			status.SkippedDeployments++
		case failed:
			status.FailedDeployments++
		}
		if at == updated || at == failed || at == rollingOut {
			status.InjectedDeployments++
			mixed = mixed || status.InjectedHash != "" && status.InjectedHash != p.Carried()
			status.InjectedHash = p.Carried()
		}
		list(status, p, at, refusals)
	}
	if mixed {
		status.InjectedHash = ""
	}
}

// keeping counts the workloads that keep a sidecar though another is rendered by now.
func keeping(plans []plan.Plan) int {
	n := 0
	for i := range plans {
		if plans[i].Keeps != "" {
			n++
		}
	}
	return n
}

// Standing is where one workload stands after a pass.
type Standing struct {
	Target workload.Ref
	// State and Reason are those of status.unsettled, and "Updated".
	State, Reason string
}

// Standings tells where every workload of a VectorSidecar stands that it matches
// or that carries its sidecar.
func Standings(facts Facts) iter.Seq[Standing] {
	return func(yield func(Standing) bool) {
		refusals := refusalsOf(facts)
		for i := range facts.Decision.Plans {
			p := &facts.Decision.Plans[i]
			at := standOf(p, refusals)
			if at != bare && !yield(Standing{Target: p.Target, State: string(at), Reason: reasonOf(p, at, refusals)}) {
				return
			}
		}
	}
}

func refusalsOf(facts Facts) map[string]Failure {
	refusals := map[string]Failure{}
	for _, failure := range facts.Failures {
		refusals[failure.Object] = failure
	}
	return refusals
}

func reasonOf(p *plan.Plan, at stand, refusals map[string]Failure) string {
	switch at {
	case refused:
		return refusals[Object(p.Target)].Reason
	case failed:
		return meta.ReasonRolloutFailed
	}
	return p.Reason
}

func list(status *v1alpha1.VectorSidecarStatus, p *plan.Plan, at stand, refusals map[string]Failure) {
	if at == updated || at == bare {
		return
	}
	if len(status.Unsettled) == listed {
		status.UnsettledOmitted++
		return
	}
	entry := v1alpha1.UnsettledWorkload{Name: p.Target.Name, State: string(at), Reason: reasonOf(p, at, refusals), Message: p.Message}
	switch at {
	case refused:
		entry.Message = refusals[Object(p.Target)].Err.Error()
	case failed:
		entry.Message = "its rollout did not finish before its progress deadline"
	}
	entry.Message = bounded(entry.Message, 512)
	status.Unsettled = append(status.Unsettled, entry)
}
