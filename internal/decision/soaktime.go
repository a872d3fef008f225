// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// defaultSoak is the default of spec.rollout.soak.
const defaultSoak = 30 * time.Second

// soak returns spec.rollout.soak, or its default.
func (input *Input) soak() time.Duration {
	if rollout := input.Sidecar.Spec.Rollout; rollout != nil && rollout.Soak != nil {
		return rollout.Soak.Duration
	}
	return defaultSoak
}

// longestAvailability returns the longest time since the last rollout for which all pods were available without a gap.
// If that time is only assumed, and the last status lists the workload as not soaked, earlier times do not count.
func (input *Input) longestAvailability(p *plan.Plan) time.Duration {
	state := p.Workload
	if state.IsAssumed && input.reportedState(p) != "" {
		state.Steady = 0
	}
	return state.LongestAvailability(input.Now)
}

// dueAfter returns the time when the rollout of a workload will have been in its current state for a duration.
func (input *Input) dueAfter(state *workload.State, duration time.Duration) time.Time {
	return input.Now.Add(duration - state.TimeInState(input.Now))
}

// reportedState returns the state of a workload in the last status, or "" if its rollout had finished.
func (input *Input) reportedState(p *plan.Plan) v1alpha1.WorkloadState {
	for i := range input.Sidecar.Status.Workloads {
		status := &input.Sidecar.Status.Workloads[i]
		if !status.Is(p.Target.Kind, p.Target.Name) {
			continue
		}
		switch status.State {
		case v1alpha1.StateRollingOut, v1alpha1.StateSoaking, v1alpha1.StateFailed:
			return status.State
		default:
			return ""
		}
	}
	return ""
}

// isReportedAfter reports whether the last status was written after a write. Both times have a resolution of one
// second, and the status of a reconcile is written right after the reconcile's writes.
func (input *Input) isReportedAfter(write time.Time) bool {
	reported := input.Sidecar.Status.LastReconcileTime
	return reported != nil && reported.Unix() >= write.Unix()
}
