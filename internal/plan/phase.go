// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Phase is the state of the sidecar in one workload: a state in status.workloads, or Updated or Bare.
type Phase = v1alpha1.WorkloadState

const (
	// Updated is the phase of a workload with the current sidecar and a finished rollout.
	Updated Phase = "Updated"
	// Bare is the phase of a workload that neither has a sidecar nor should have one.
	Bare Phase = "Bare"
)

// Phase returns the phase according to the plan. It does not include the result of the write that the plan
// makes now.
func (p *Plan) Phase() Phase {
	switch {
	case p.Block != nil && (p.Block.Kind != BlockedByRejection || p.StartsPods()): // A rejected record does not change the sidecar.
		return p.Block.Kind.state()
	case p.Action == Remove, p.Desired == nil && p.Rollout.InFlight:
		return v1alpha1.StateRemoving
	case p.Writes() && p.StartsPods():
		return v1alpha1.StateRollingOut
	case p.Desired == nil:
		return Bare
	case p.Rollout.Failed:
		return v1alpha1.StateFailed
	case p.Rollout.PodsBlocked:
		return v1alpha1.StatePodsBlocked
	case p.Workload.Rollout == workload.RolloutProgressing:
		return v1alpha1.StateRollingOut
	case p.Rollout.InFlight:
		return v1alpha1.StateSoaking
	case p.Workload.LacksPods():
		return v1alpha1.StateWithoutPods
	case p.Workload.Rollout == workload.RolloutUnavailable, p.Rollout.FailedBefore && p.Workload.Rollout == workload.RolloutFailed:
		return v1alpha1.StateUnavailable
	case p.Workload.Rollout == workload.PodsNotReplaced:
		return v1alpha1.StatePodsOutdated
	}
	return Updated
}

// LacksPods reports whether the rollout of the current sidecar is finished although no pod has run it.
func (p *Plan) LacksPods() bool {
	if p.Workload.Evidence > 0 {
		return false
	}
	phase := p.Phase()
	return phase == v1alpha1.StateWithoutPods || phase == v1alpha1.StatePodsOutdated
}
