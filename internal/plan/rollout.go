// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// RolloutPhase is how far the rollout of a workload's current sidecar is.
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

// state is the table of the states of workloads that have neither a block nor a change.
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

// Fail records that the rollout of the current sidecar has failed.
func (p *Plan) Fail(reason, message string) {
	p.Rollout.Phase, p.Rollout.Reason, p.Rollout.Message = RolloutFailed, reason, message
}

// Hinder records that the pods with the current sidecar are blocked.
func (p *Plan) Hinder(reason, message string) {
	p.Rollout.Phase, p.Rollout.Reason, p.Rollout.Message = RolloutPodsBlocked, reason, message
}

// SetRolloutPhase sets the phase of the rollout according to the state of the workload, unless the rollout is failed or
// blocked already.
func (p *Plan) SetRolloutPhase() {
	switch rollout := p.Workload.Rollout; {
	case p.Desired == nil && p.Rollout.InFlight:
		p.Rollout.Phase = RolloutRemoving
	case p.Desired == nil:
		p.Rollout.Phase = RolloutNone
	case p.Rollout.Phase == RolloutFailed, p.Rollout.Phase == RolloutPodsBlocked:
	case rollout == workload.RolloutProgressing:
		p.Rollout.Phase = RolloutProgressing
	case p.Rollout.InFlight:
		p.Rollout.Phase = RolloutSoaking
	case p.Workload.LacksPods():
		p.Rollout.Phase = RolloutWithoutPods
	case rollout == workload.RolloutUnavailable, p.Rollout.FailedBefore && rollout == workload.RolloutFailed:
		p.Rollout.Phase = RolloutUnavailable
	case rollout == workload.PodsNotReplaced:
		p.Rollout.Phase = RolloutPodsOutdated
	default:
		p.Rollout.Phase = RolloutComplete
	}
}
