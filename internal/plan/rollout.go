// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RolloutPhase is a phase of the rollout of a workload's current sidecar.
type RolloutPhase uint8

const (
	// RolloutNone means that the workload should not have a sidecar, and that no removal is in progress.
	RolloutNone RolloutPhase = iota
	// RolloutRemoving means that the pods lose the sidecar.
	RolloutRemoving
	// RolloutProgressing means that pods are replaced.
	RolloutProgressing
	// RolloutSoaking means that all pods are available, but not for the soak time yet.
	RolloutSoaking
	// RolloutFailed means that the rollout has failed.
	RolloutFailed
	// RolloutPodsBlocked means that pods are blocked by a cause that may pass.
	RolloutPodsBlocked
	// RolloutWithoutPods means that no pod has run the sidecar, and that the workload has no pods.
	RolloutWithoutPods
	// RolloutUnavailable means that the workload has lost pods after its rollout, or failed before the rollout.
	RolloutUnavailable
	// RolloutPodsOutdated means that the workload keeps pods with another pod template.
	RolloutPodsOutdated
	// RolloutComplete means that the rollout is finished.
	RolloutComplete
)

// state returns the state of a workload in this phase, if its plan has neither a block nor a change.
func (r RolloutPhase) state() State {
	//exhaustive:enforce
	switch r {
	case RolloutNone:
		return Bare
	case RolloutRemoving:
		return v1alpha1.StateRemoving
	case RolloutProgressing:
		return v1alpha1.StateRollingOut
	case RolloutSoaking:
		return v1alpha1.StateSoaking
	case RolloutFailed:
		return v1alpha1.StateFailed
	case RolloutPodsBlocked:
		return v1alpha1.StatePodsBlocked
	case RolloutWithoutPods:
		return v1alpha1.StateWithoutPods
	case RolloutUnavailable:
		return v1alpha1.StateUnavailable
	case RolloutPodsOutdated:
		return v1alpha1.StatePodsOutdated
	case RolloutComplete:
		return Updated
	}
	return Updated
}

// WithPhase returns the rollout of a plan with the phase that follows from the state of the workload. RolloutFailed and
// RolloutPodsBlocked stay.
func (r Rollout) WithPhase(p *Plan) Rollout {
	switch state := &p.Workload; {
	case p.Desired == nil && r.InFlight:
		r.Phase = RolloutRemoving
	case p.Desired == nil:
		r.Phase = RolloutNone
	case r.Phase == RolloutFailed, r.Phase == RolloutPodsBlocked:
	case state.Rollout == workload.RolloutProgressing:
		r.Phase = RolloutProgressing
	case r.InFlight:
		r.Phase = RolloutSoaking
	case state.LacksPods():
		r.Phase = RolloutWithoutPods
	case state.Rollout == workload.RolloutUnavailable, r.FailedBefore && state.Rollout == workload.RolloutFailed:
		r.Phase = RolloutUnavailable
	case state.Rollout == workload.PodsNotReplaced:
		r.Phase = RolloutPodsOutdated
	default:
		r.Phase = RolloutComplete
	}
	return r
}
