// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// State is the state of the sidecar in one workload: a state in status.workloads, or Updated or Bare.
type State = v1alpha1.WorkloadState

const (
	// Updated is the state of a workload with the current sidecar and a finished rollout.
	Updated State = "Updated"
	// Bare is the state of a workload that neither has a sidecar nor should have one.
	Bare State = "Bare"
)

// State returns the state of the workload according to the plan. It depends on the plan's block, its change and the
// phase of its rollout, not on the result of the write that the plan makes now.
func (p *Plan) State() State {
	switch {
	case p.Block != nil && (p.Block.Kind != BlockedByRejection || p.StartsPods()): // A rejected record does not change the sidecar.
		return p.Block.Kind.state()
	case p.Change == Remove:
		return v1alpha1.StateRemoving
	case p.StartsPods():
		return v1alpha1.StateRollingOut
	}
	return p.Rollout.Phase.state()
}

// LacksPods reports whether the rollout of the current sidecar is finished although no pod has run that sidecar.
func (p *Plan) LacksPods() bool {
	if p.Workload.Evidence > 0 {
		return false
	}
	state := p.State()
	return state == v1alpha1.StateWithoutPods || state == v1alpha1.StatePodsOutdated
}
