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

// stage is what a pass does about the installation's revision.
type stage struct {
	fleet.Stage

	of    fleet.Member
	given fleet.Given
	// last is the status before.
	last *v1alpha1.RolloutStatus
	// ofCluster is the ClusterVectorSidecar whose part this is in a namespace, "" for none: the
	// namespace goes by it, and its own pass moves it on. before is what had failed there before the
	// revision came, nil if that is not known yet.
	ofCluster string
	before    *brokenBefore
}

// brokenBefore are the namespaces that had failed workloads before a revision, whose fault it was not,
// and the lastgood.Generation of the ClusterVectorSidecar at that time: these halt nobody, and hold up no wave.
type brokenBefore struct {
	namespaces map[string]bool
	generation int64
}

// hold returns what holds the writes of the pass, nil if nothing does.
func (s *stage) hold() *plan.WriteHold {
	switch {
	case s == nil || !s.IsHeld:
		return nil
	case s.Gate.IsHalted:
		return &plan.WriteHold{Reason: meta.ReasonRolloutHalted, Message: s.Gate.Why}
	}
	return &plan.WriteHold{Reason: meta.ReasonWaitingForWave, Message: s.Gate.Why}
}

// late returns what holds those writes of the pass that have waited for spec.rollout.maxAge, nil if
// nothing does: they go by waves, too, and the status says before that the revision goes on here.
func (s *stage) late() *plan.WriteHold {
	if s == nil || s.Status.Revision != s.given.Revision {
		return nil
	}
	switch {
	case !s.Gate.IsOpen:
		return &plan.WriteHold{Reason: meta.ReasonWaitingForWave, Message: s.Gate.Why}
	case s.Status.CompletionTime != nil:
		return &plan.WriteHold{Reason: meta.ReasonWaitingForWave, Message: "spec.rollout.maxAge has passed: starting at once"}
	}
	return nil
}

// watch returns which restarts of the sidecar count as failures of the revision now, nil if none do.
func (s *stage) watch(now time.Time) *workload.RestartRule {
	if s == nil || s.given.Rules.SidecarRestarts() == 0 {
		return nil
	}
	start, isWatched := s.WatchedSince(s.of.Wave, &s.given, now)
	if !isWatched {
		return nil
	}
	return &workload.RestartRule{Restarts: s.given.Rules.SidecarRestarts(), StartedAt: start, RetriedAt: s.given.RetriedAt()}
}

// isFaultOf reports whether workloads have failed with the revision that a VectorSidecar has, and because
// of it: that says nothing against the next one not failing, too.
func isFaultOf(rolloutStatus *v1alpha1.RolloutStatus) bool {
	return rolloutStatus != nil && rolloutStatus.FailedRevision != "" && rolloutStatus.FailedRevision == rolloutStatus.Revision
}

// begins reports whether the first rollouts begin for the revision of a ClusterVectorSidecar's part, and
// its status does not say so yet.
func (s *stage) begins(decision *decision.Decision) bool {
	isBegun := s.Status.StartTime != nil || s.Status.CompletionTime != nil
	return s.ofCluster != "" && !s.IsHeld && !isBegun && plan.HasRollouts(decision.Plans)
}
