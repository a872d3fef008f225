// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// newObservation returns the observations about the workloads of a reconcile, after some plans have been carried out.
func (s *rolloutTracker) newObservation(sidecar *v1alpha1.VectorSidecar, rollout *state.Rollout, d *decision.Decision, writtenPlans []*plan.Plan) *lastgood.Observation {
	onFailure := s.catalog.Rules().ResolveOnFailure(sidecar.Spec.Rollout)
	if onFailure != v1alpha1.OnFailureRevert {
		return &lastgood.Observation{}
	}
	observation := &lastgood.Observation{OnFailure: onFailure, IsCausedBySpec: rollout == nil || rollout.IsCausedBySpec(sidecar, s.now())}
	observation.Progress = decision.NewProgress(d.Plans, slices.ContainsFunc(writtenPlans, func(p *plan.Plan) bool { return p.StartsPods() }))
	observation.Failed += observation.Unexplained // Unexplained failures count, because the spec belongs to this VectorSidecar only.
	if d.Invalid != nil {                         // An invalid spec is not written.
		observation.Failed = 0
		return observation
	}
	if meta.IsOfCluster(sidecar.Name) {
		observation.Failed = countFailures(sidecar.Namespace, rollout, d.Plans)
	}
	isRunning, isDeferred := plan.RunningAndDeferred(d.Plans)
	observation.IsFullyRolledOut = isRunning && !isDeferred
	return observation
}

// revertSpec reverts a VectorSidecar to its last known good spec, if workloads have failed because of a change of the
// spec. The status records the revert before a workload is written, because another leader may have to continue after
// a crash. If isReverting is true, the reconcile must end, and be repeated after a time, or for a ClusterVectorSidecar,
// after its own reconcile has written the revert.
func (s *rolloutTracker) revertSpec(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, rollout *state.Rollout, decision *decision.Decision) (isReverting bool, requeueAfter time.Duration, err error) {
	reverted := lastgood.Revert(sidecar, s.newObservation(sidecar, rollout, decision, nil), s.now())
	if reverted == nil {
		return false, 0, nil
	}
	good, cause := sidecar.Status.LastKnownGood, failureReason(decision.Plans)
	if meta.IsOfCluster(sidecar.Name) {
		reverted.Namespace = sidecar.Namespace
		s.clusters.RequestRevert(sidecar, reverted, cause)
		return true, 0, nil
	}
	if err := s.statuses.writeRevert(ctx, sidecarState, sidecar, decision, reverted, s.now()); err != nil {
		return false, 0, fmt.Errorf("writing the revert of the spec of generation %d to the status: %w", reverted.Generation, err)
	}
	s.statuses.events.AnnounceRevert(ctx, sidecar, good, reverted, cause)
	return true, state.AtOnce, nil
}

// writeRevert writes to the status of a VectorSidecar that its spec is reverted.
func (w *statusWriter) writeRevert(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision, reverted *v1alpha1.RevertedSpec, now time.Time) error {
	original := sidecar.DeepCopy()
	facts := status.Facts{
		Sidecar: original, Decision: decision, Rollout: sidecarState.Rollout(&original.Status),
		SpecStatus: lastgood.SpecStatus{LastGood: original.Status.LastKnownGood, Reverted: reverted},
	}
	sidecar.Status = status.NewSidecarStatus(facts, metav1.NewTime(now))
	return w.apply(ctx, sidecarState, sidecar)
}

// failureReason returns the first workload that failed because of the sidecar, and the cause. It prefers failures with a
// known cause other than rejected or unschedulable pods.
func failureReason(plans []plan.Plan) string {
	i := slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Rollout.SidecarFailed && !p.Rollout.Obstructed })
	if i < 0 {
		i = slices.IndexFunc(plans, func(p plan.Plan) bool { return p.Rollout.SidecarFailed || p.Rollout.Unexplained })
	}
	if i < 0 {
		return ""
	}
	return status.WorkloadTitle(plans[i].Target) + ": " + plans[i].Message()
}

// newReport returns the report of the reconcile of a namespace of a ClusterVectorSidecar, or nil for a VectorSidecar.
// It also returns the time until the workloads may be settled without an event, or 0 for never.
func (s *rolloutTracker) newReport(sidecar *v1alpha1.VectorSidecar, rollout *state.Rollout, d *decision.Decision, results decision.Results) (report *lastgood.NamespaceReport, requeueAfter time.Duration) {
	if !meta.IsOfCluster(sidecar.Name) {
		return nil, 0
	}
	report = &lastgood.NamespaceReport{Attempt: lastgood.NewAttempt(sidecar), IsSettled: d.Invalid != nil, IsRetrying: results.Retryable() != nil}
	if d.Invalid == nil && !report.IsRetrying {
		isWritten := slices.ContainsFunc(results.Written(), func(p *plan.Plan) bool { return p.StartsPods() })
		report.IsSettled, requeueAfter = plan.IsSettled(d.Plans, len(results.Failures()) > 0, s.now())
		report.IsSettled = report.IsSettled && !isWritten
	}
	observation := s.newObservation(sidecar, rollout, d, results.Written())
	report.IsRunning, report.IsDeferred = plan.RunningAndDeferred(d.Plans)
	report.IsPaused, report.Failed = observation.IsPaused, observation.Failed
	report.CopyTimes(s.clusters.StateFor(sidecar).ReportIn(sidecar.Namespace), sidecar, s.now())
	return report, requeueAfter
}

// countFailures counts the workloads of a namespace that have failed because of the sidecar. Rejected or unschedulable
// pods do not count, because their cause is in the namespace. For the same reason, a namespace that had failed before
// the revision started counts as 0.
func countFailures(namespace string, rollout *state.Rollout, plans []plan.Plan) int {
	if rollout != nil && rollout.HadFailed(namespace) {
		return 0
	}
	failed := 0
	for i := range plans {
		if p := &plans[i]; p.Rollout.SidecarFailed && !p.Rollout.Obstructed || p.Rollout.Unexplained {
			failed++
		}
	}
	return failed
}
