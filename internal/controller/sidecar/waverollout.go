// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// waveRollout is the decision of one reconcile whether a VectorSidecar may start, continue or revert the target
// revision.
type waveRollout struct {
	fleet.RevisionState

	member fleet.WaveMember
	target fleet.Target
	// lastStatus is the previous status of the wave of a ClusterVectorSidecar.
	lastStatus *v1alpha1.RolloutStatus
	// clusterName is the name of the ClusterVectorSidecar that a VectorSidecar stands for, or "" for none. The
	// namespace then follows the wave state of the ClusterVectorSidecar, and only the reconcile of the
	// ClusterVectorSidecar changes that state. priorFailures lists the failures in the namespaces before the
	// revision, or is nil if they are not known yet.
	clusterName   string
	priorFailures *priorFailures
}

// priorFailures lists the namespaces with workloads that failed before a revision, so not because of it. These
// failures do not halt rollouts and do not block waves. generation is the lastgood.Generation of the
// ClusterVectorSidecar at that time.
type priorFailures struct {
	namespaces map[string]bool
	generation int64
}

// writeHold returns the reason why the writes of the reconcile are on hold, nil if they are not.
func (s *waveRollout) writeHold() *plan.Block {
	switch {
	case s == nil || !s.IsHeld:
		return nil
	case s.Gate.IsHalted:
		return &plan.Block{Kind: plan.BlockedByHalt, Reason: meta.ReasonRolloutHalted, Message: s.Gate.Message}
	}
	return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: s.Gate.Message}
}

// maxAgeHold explains why a rollout still waits although spec.rollout.maxAge has passed: its wave is not open, or the
// status does not yet record that this VectorSidecar starts the revision. It returns nil if the rollout may start.
func (s *waveRollout) maxAgeHold() *plan.Block {
	if s == nil || s.Status.Revision != s.target.Revision {
		return nil
	}
	switch {
	case !s.Gate.IsOpen:
		return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: s.Gate.Message}
	case s.Status.CompletionTime != nil:
		return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: "spec.rollout.maxAge has passed; waiting until the status records the start of the rollout"}
	}
	return nil
}

// restartRule returns the rule for restarts of the sidecar that count as failures of the revision now. It returns nil if
// restarts do not count.
func (s *waveRollout) restartRule(now time.Time) *workload.RestartRule {
	if s == nil || s.target.Rules.SidecarRestarts() == 0 {
		return nil
	}
	start, isWatched := s.WatchedSince(s.member.Wave, &s.target, now)
	if !isWatched {
		return nil
	}
	return &workload.RestartRule{Restarts: s.target.Rules.SidecarRestarts(), StartedAt: start, RetriedAt: s.target.RetriedAt()}
}

// hasFailedRevision reports whether workloads failed because of the current revision of a VectorSidecar. If so, the
// failures do not show that the next revision would fail, too.
func hasFailedRevision(rolloutStatus *v1alpha1.RolloutStatus) bool {
	return rolloutStatus != nil && rolloutStatus.FailedRevision != "" && rolloutStatus.FailedRevision == rolloutStatus.Revision
}

// isFirstStart reports whether a reconcile starts the first rollouts of the revision in a wave of a ClusterVectorSidecar,
// before the status records the start.
func (s *waveRollout) isFirstStart(decision *decision.Decision) bool {
	if s == nil || s.Status.StartTime != nil || s.Status.CompletionTime != nil {
		return false
	}
	return s.clusterName != "" && !s.IsHeld && plan.HasRollouts(decision.Plans)
}
