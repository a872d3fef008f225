// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// waveRollout is the decision of one reconcile about the installation's revision.
type waveRollout struct {
	fleet.RevisionState

	of    fleet.WaveMember
	given fleet.Target
	// last is the previous status of the wave of a ClusterVectorSidecar.
	last *v1alpha1.RolloutStatus
	// ofCluster is the ClusterVectorSidecar of a namespace in a wave, "" for a VectorSidecar. The namespace follows the
	// wave state of the ClusterVectorSidecar, and only the reconcile of the ClusterVectorSidecar changes that state.
	// before lists the failures in the namespaces before the revision, nil if they are not known yet.
	ofCluster string
	before    *brokenBefore
}

// brokenBefore lists the namespaces with workloads that failed before a revision, so not because of it. It also has the
// lastgood.Generation of the ClusterVectorSidecar at that time. These failures do not halt rollouts and do not block
// waves.
type brokenBefore struct {
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

// lateHold returns the reason why writes that have waited for spec.rollout.maxAge are on hold, nil if they are not. Such
// writes also follow the waves, and the status first records that the revision starts here.
func (s *waveRollout) lateHold() *plan.Block {
	if s == nil || s.Status.Revision != s.given.Revision {
		return nil
	}
	switch {
	case !s.Gate.IsOpen:
		return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: s.Gate.Message}
	case s.Status.CompletionTime != nil:
		return &plan.Block{Kind: plan.BlockedByWave, Reason: meta.ReasonWaitingForWave, Message: "spec.rollout.maxAge has passed: starting at once"}
	}
	return nil
}

// restartRule returns the rule for restarts of the sidecar that count as failures of the revision now. It returns nil if
// restarts do not count.
func (s *waveRollout) restartRule(now time.Time) *workload.RestartRule {
	if s == nil || s.given.Rules.SidecarRestarts() == 0 {
		return nil
	}
	start, isWatched := s.WatchedSince(s.of.Wave, &s.given, now)
	if !isWatched {
		return nil
	}
	return &workload.RestartRule{Restarts: s.given.Rules.SidecarRestarts(), StartedAt: start, RetriedAt: s.given.RetriedAt()}
}

// hasFailedRevision reports whether workloads failed because of the current revision of a VectorSidecar. If so, the failures do
// not show that the next revision would fail, too.
func hasFailedRevision(rolloutStatus *v1alpha1.RolloutStatus) bool {
	return rolloutStatus != nil && rolloutStatus.FailedRevision != "" && rolloutStatus.FailedRevision == rolloutStatus.Revision
}

// isFirstStart reports whether a reconcile starts the first rollouts of the revision in a wave of a ClusterVectorSidecar,
// before the status records the start.
func (s *waveRollout) isFirstStart(decision *decision.Decision) bool {
	isBegun := s.Status.StartTime != nil || s.Status.CompletionTime != nil
	return s.ofCluster != "" && !s.IsHeld && !isBegun && plan.HasRollouts(decision.Plans)
}
