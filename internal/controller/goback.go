// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"

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
func (r *Reconciler) seen(sidecar *v1alpha1.VectorSidecar, staged *stage, decided *decision.Decision, done []*plan.Plan) *lastgood.Seen {
	onFailure := r.stages.catalog.rules().OnFailureOf(sidecar.Spec.Rollout)
	if onFailure != v1alpha1.OnFailureRevert {
		return &lastgood.Seen{}
	}
	seen := &lastgood.Seen{OnFailure: onFailure, IsOwners: staged.isOwners(sidecar)}
	seen.Progress = decision.ProgressOf(decided.Plans, slices.ContainsFunc(done, func(p *plan.Plan) bool { return p.StartsPods() }))
	if decided.Invalid != nil { // Nothing of it is written.
		seen.Failed = 0
		return seen
	}
	seen.IsEverywhere = plan.IsEverywhere(decided.Plans)
	return seen
}

// isOwners reports whether what fails now is because of what an owner has changed: since the
// VectorSidecar got the revision that it has, or because it fails with the one before, too.
func (s *stage) isOwners(sidecar *v1alpha1.VectorSidecar) bool {
	switch {
	case s == nil:
		return true
	case s.IsNew: // What is seen to fail has failed with the one before.
		return false
	}
	return s.Status.RevertedFrom == s.given.Revision || s.Status.Generation != lastgood.Generation(sidecar)
}

// goBack has a VectorSidecar go back to its last good spec, if workloads have failed because of what
// its owner has changed. That has to be in the status before anything is written, for whoever leads
// after a crash. It reports whether it goes back: then the pass has to be made again.
func (r *Reconciler) goBack(ctx context.Context, known *state.Sidecar, sidecar *v1alpha1.VectorSidecar, staged *stage, decided *decision.Decision) (bool, error) {
	reverted := lastgood.GoBack(sidecar, r.seen(sidecar, staged, decided, nil), r.clock())
	if reverted == nil {
		return false, nil
	}
	before := sidecar.DeepCopy()
	facts := status.Facts{
		Sidecar: before, Decision: decided, Rollout: known.Rollout(&before.Status),
		Own: lastgood.Kept{LastGood: before.Status.LastGood, Reverted: reverted},
	}
	sidecar.Status = status.Of(facts, metav1.NewTime(r.clock()))
	if err := r.statuses.patch(ctx, before, sidecar, known.IsStatusUnknown()); err != nil {
		known.StatusFailed()
		return false, fmt.Errorf("writing to the status that the spec of generation %d is reverted: %w", reverted.Generation, err)
	}
	known.StatusWritten(sidecar)
	known.Adopt(decision.Adopted{}) // As after a change of the spec.
	log.FromContext(ctx).Info("spec reverted", "generation", reverted.Generation, "to", before.Status.LastGood.Generation, "failed", reverted.FailedWorkloads)
	note := fmt.Sprintf("workloads go back to the spec of generation %d (spec.rollout.onFailure: Revert), because %d failed with that of generation %d: %s",
		before.Status.LastGood.Generation, reverted.FailedWorkloads, reverted.Generation, whyFailed(decided.Plans))
	r.statuses.events.Eventf(sidecar, nil, corev1.EventTypeWarning, meta.ReasonReverted, "Revert", "%s", humanize.Message(note, noteLimit))
	return true, nil
}

// whyFailed says which workload is the first that failed because of the sidecar, and why.
func whyFailed(plans []plan.Plan) string {
	at := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.SidecarFailed })
	if at < 0 {
		return ""
	}
	return status.Object(plans[at].Target) + ": " + plans[at].Message
}
