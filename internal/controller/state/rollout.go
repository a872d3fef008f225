// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Rollout is the decision of one reconcile whether a VectorSidecar may start, continue or revert the target
// revision.
type Rollout struct {
	fleet.RevisionState

	Member fleet.WaveMember
	Target fleet.Target
	// LastStatus is the previous status of the wave of a ClusterVectorSidecar.
	LastStatus *v1alpha1.RolloutStatus
	// ClusterName is the name of the ClusterVectorSidecar that a VectorSidecar stands for, or "" for none. The
	// namespace then follows the wave state of the ClusterVectorSidecar, and only the reconcile of the
	// ClusterVectorSidecar changes that state. PriorFailures lists the failures in the namespaces before the
	// revision, or is nil if they are not known yet.
	ClusterName   string
	PriorFailures *PriorFailures
}

// PriorFailures lists the namespaces with workloads that failed before a revision, so not because of it. These
// failures do not halt rollouts and do not block waves. Generation is the lastgood.Generation of the
// ClusterVectorSidecar at that time.
type PriorFailures struct {
	Namespaces map[string]bool
	Generation int64
}

// WriteHold returns the reason why the writes of the reconcile are on hold, nil if they are not.
func (r *Rollout) WriteHold() *plan.Block {
	switch {
	case r == nil || !r.IsHeld:
		return nil
	case r.Gate.IsHalted:
		return &plan.Block{Kind: plan.BlockedByHalt, Reason: meta.ReasonRolloutHalted, Message: r.Gate.Message}
	}
	return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: r.Gate.Message}
}

// MaxAgeHold explains why a rollout still waits although spec.rollout.maxAge has passed: its wave is not open, or the
// status does not yet record that this VectorSidecar starts the revision. It returns nil if the rollout may start.
func (r *Rollout) MaxAgeHold() *plan.Block {
	if r == nil || r.Status.Revision != r.Target.Revision {
		return nil
	}
	switch {
	case !r.Gate.IsOpen:
		return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: r.Gate.Message}
	case r.Status.CompletionTime != nil:
		return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: "spec.rollout.maxAge has passed; waiting until the status records the start of the rollout"}
	}
	return nil
}

// RestartRule returns the rule for restarts of the sidecar that count as failures of the revision now. It returns nil if
// restarts do not count.
func (r *Rollout) RestartRule(now time.Time) *workload.RestartRule {
	if r == nil || r.Target.Rules.SidecarRestarts() == 0 {
		return nil
	}
	start, isWatched := r.WatchedSince(r.Member.Wave, &r.Target, now)
	if !isWatched {
		return nil
	}
	return &workload.RestartRule{Restarts: r.Target.Rules.SidecarRestarts(), StartedAt: start, RetriedAt: r.Target.RetriedAt()}
}

// HasFailedRevision reports whether workloads failed because of the current revision of a VectorSidecar. If so, the
// failures do not show that the next revision would fail, too.
func HasFailedRevision(rolloutStatus *v1alpha1.RolloutStatus) bool {
	return rolloutStatus != nil && rolloutStatus.FailedRevision != "" && rolloutStatus.FailedRevision == rolloutStatus.Revision
}

// IsFirstStart reports whether a reconcile starts the first rollouts of the revision in a wave of a ClusterVectorSidecar,
// before the status records the start.
func (r *Rollout) IsFirstStart(decision *decision.Decision) bool {
	if r.Status.StartTime != nil || r.Status.CompletionTime != nil {
		return false
	}
	return r.ClusterName != "" && !r.IsHeld && plan.HasRollouts(decision.Plans)
}

// IsCausedBySpec reports whether the current failures are caused by a change of the spec. Either the spec changed
// after the VectorSidecar got its revision, or workloads also fail with the previous revision.
func (r *Rollout) IsCausedBySpec(sidecar *v1alpha1.VectorSidecar, now time.Time) bool {
	switch {
	case r.IsNew, r.Status.Revision == "": // The failures also occurred with the previous revision, or this is unknown.
		return false
	case r.Status.RevertedFrom == r.Target.Revision:
		return true
	case r.ClusterName != "" && r.Status.Generation == 0: // Some namespaces had failed before. They are known by name.
		_, isWatched := r.WatchedSince(r.Member.Wave, &r.Target, now)
		return !isWatched || r.PriorFailures != nil && r.PriorFailures.Generation != lastgood.Generation(sidecar)
	}
	return r.Status.Generation != lastgood.Generation(sidecar)
}

// HadFailed reports whether workloads of a namespace had failed before the revision of the wave started.
func (r *Rollout) HadFailed(namespace string) bool {
	return r.Status.Generation == 0 && r.PriorFailures != nil && r.PriorFailures.Namespaces[namespace]
}

// NewMember returns the WaveMember of a VectorSidecar or a ClusterVectorSidecar.
func NewMember(object client.Object, spec *v1alpha1.VectorSidecarSpec, generation int64, wave int, target *fleet.Target) fleet.WaveMember {
	member := fleet.WaveMember{Wave: wave, Generation: generation}
	target.ReadAnnotations(&member, object.GetAnnotations())
	if spec.Rollout != nil {
		member.OnFailure = spec.Rollout.OnFailure
	}
	return member
}
