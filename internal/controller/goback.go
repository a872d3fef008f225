// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// seen returns what a pass has seen of the workloads, after some plans have been carried out.
func (s *stages) seen(sidecar *v1alpha1.VectorSidecar, rollout *stage, d *decision.Decision, writtenPlans []*plan.Plan) *lastgood.Seen {
	onFailure := s.catalog.rules().OnFailureOf(sidecar.Spec.Rollout)
	if onFailure != v1alpha1.OnFailureRevert {
		return &lastgood.Seen{}
	}
	observation := &lastgood.Seen{OnFailure: onFailure, IsOwners: rollout.isOwners(sidecar, s.now())}
	observation.Progress = decision.ProgressOf(d.Plans, slices.ContainsFunc(writtenPlans, func(p *plan.Plan) bool { return p.StartsPods() }))
	observation.Failed += observation.Unexplained // A spec of its own is nobody else's.
	if d.Invalid != nil {                         // Nothing of it is written.
		observation.Failed = 0
		return observation
	}
	if sidecar.Cluster != nil {
		observation.Failed = failuresIn(sidecar.Namespace, rollout, d.Plans)
	}
	isRunning, isDeferred := plan.RunningAndDeferred(d.Plans)
	observation.IsEverywhere = isRunning && !isDeferred
	return observation
}

// isOwners reports whether what fails now is because of what an owner has changed: since the
// VectorSidecar got the revision that it has, or because it fails with the one before, too.
func (s *stage) isOwners(sidecar *v1alpha1.VectorSidecar, now time.Time) bool {
	switch {
	case s == nil:
		return true
	case s.IsNew, s.Status.Revision == "": // What is seen to fail has failed with the one before, or nobody knows.
		return false
	case s.Status.RevertedFrom == s.given.Revision:
		return true
	case s.ofCluster != "" && s.Status.Generation == 0: // Some namespaces had failed before, which are known by name.
		_, isWatched := s.WatchedSince(s.of.Wave, &s.given, now)
		return !isWatched || s.before != nil && s.before.generation != lastgood.Generation(sidecar)
	}
	return s.Status.Generation != lastgood.Generation(sidecar)
}

// hadFailed reports whether workloads of a namespace had failed before the revision of a part came.
func (s *stage) hadFailed(namespace string) bool {
	return s.Status.Generation == 0 && s.before != nil && s.before.namespaces[namespace]
}

// goBack has a VectorSidecar go back to its last good spec, if workloads have failed because of what
// its owner has changed. That has to be in the status before anything is written, for whoever leads
// after a crash. It reports whether it goes back: then the pass has to be made again.
func (s *stages) goBack(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, rollout *stage, decision *decision.Decision) (bool, error) {
	reverted := lastgood.GoBack(sidecar, s.seen(sidecar, rollout, decision, nil), s.now())
	if reverted == nil {
		return false, nil
	}
	good := sidecar.Status.LastKnownGood.Generation
	write := func() error { return s.statuses.goBack(ctx, sidecarState, sidecar, decision, reverted, s.now()) }
	if sidecar.Cluster != nil {
		write = func() error { return s.clusters.goBack(ctx, sidecar, reverted) }
	}
	if err := write(); err != nil {
		return false, fmt.Errorf("writing to the status that the spec of generation %d is reverted: %w", reverted.Generation, err)
	}
	log.FromContext(ctx).Info("spec reverted", "generation", reverted.Generation, "to", good, "failed", reverted.FailedWorkloads)
	note := fmt.Sprintf("workloads go back to the spec of generation %d (spec.rollout.onFailure: Revert), because %d failed with that of generation %d: %s",
		good, reverted.FailedWorkloads, reverted.Generation, whyFailed(decision.Plans))
	s.statuses.events.Eventf(sidecar, nil, corev1.EventTypeWarning, meta.ReasonReverted, "Revert", "%s", humanize.Message(note, noteLimit))
	return true, nil
}

// goBack writes to the status of a VectorSidecar that its spec is reverted.
func (w *statusWriter) goBack(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision, reverted *v1alpha1.RevertedSpec, now time.Time) error {
	original := sidecar.DeepCopy()
	facts := status.Facts{
		Sidecar: original, Decision: decision, Rollout: sidecarState.Rollout(&original.Status),
		SpecStatus: lastgood.Kept{LastGood: original.Status.LastKnownGood, Reverted: reverted},
	}
	sidecar.Status = status.NewSidecarStatus(facts, metav1.NewTime(now))
	if err := w.patch(ctx, original, sidecar, sidecarState.IsStatusUnknown()); err != nil {
		sidecarState.StatusFailed()
		return err
	}
	sidecarState.StatusWritten(sidecar)
	return nil
}

// whyFailed says which workload is the first that failed because of the sidecar, and why.
func whyFailed(plans []plan.Plan) string {
	i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.SidecarFailed && !p.Obstructed })
	if i < 0 {
		i = slices.IndexFunc(plans, func(p plan.Plan) bool { return p.SidecarFailed || p.Unexplained })
	}
	if i < 0 {
		return ""
	}
	return status.Object(plans[i].Target) + ": " + plans[i].Message
}

// partOf returns what a pass over a namespace of a ClusterVectorSidecar has seen, and sets when to look again.
func (s *stages) partOf(sidecar *v1alpha1.VectorSidecar, rollout *stage, decision *decision.Decision, result *outcome) *lastgood.Part {
	report := &lastgood.Part{Trial: lastgood.TrialOf(sidecar), IsSettled: decision.Invalid != nil}
	report.IsTroubled = slices.ContainsFunc(result.failures, func(f status.Failure) bool { return !f.Permanent })
	if decision.Invalid == nil && !report.IsTroubled {
		isWritten := slices.ContainsFunc(result.done, func(p *plan.Plan) bool { return p.StartsPods() })
		isSettled, requeueAfter := plan.IsSettled(decision.Plans, len(result.failures) > 0, s.now())
		report.IsSettled = isSettled && !isWritten
		result.lookAgain = minNonZero(result.lookAgain, requeueAfter)
	}
	observation := s.seen(sidecar, rollout, decision, result.done)
	report.IsRunning, report.IsDeferred = plan.RunningAndDeferred(decision.Plans)
	report.IsPaused, report.Failed = observation.IsPaused, observation.Failed
	report.After(s.clusters.of(clusterOf(sidecar)).partIn(sidecar.Namespace), sidecar, s.now())
	return report
}

// failuresIn counts the workloads of a namespace that have failed because of the sidecar. Pods that are refused
// or find no node are that namespace's trouble, and so is what had failed before the revision came.
func failuresIn(namespace string, rollout *stage, plans []plan.Plan) int {
	if rollout != nil && rollout.hadFailed(namespace) {
		return 0
	}
	failed := 0
	for i := range plans {
		if p := &plans[i]; p.SidecarFailed && !p.Obstructed || p.Unexplained {
			failed++
		}
	}
	return failed
}
