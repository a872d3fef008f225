// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"
	"slices"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// byReport is the end of messages that are from the status in the cluster.
const byReport = " (as the operator reports)"

// applyReport replaces the decision about a VectorSidecar by its status in the cluster, if the user may not read the
// installation's values. Without these values, the decision is only an assumption. If the status is not for the current
// spec, the decision stays, and an error of the decision mentions the missing values.
func (s *session) applyReport(ruled *result) error {
	if s.valuesErr == nil || s.inputs.values.isSet() {
		return nil
	}
	if s.inputs.templates == "" && isReported(ruled.sidecar) {
		ruled.assumed = "the status that the operator reports, because the installation's values cannot be read"
		ruled.applyReport()
		return nil
	}
	ruled.assumed = "the built-in values, because the installation's values cannot be read"
	s.addNote(fmt.Sprintf("%s: assuming %s", meta.TitleIn(ruled.sidecar.Namespace, ruled.sidecar.Name), ruled.assumed))
	if invalid := ruled.decision.Invalid; invalid != nil {
		return fmt.Errorf("VectorSidecar %s/%s cannot be evaluated without the installation's values: %w; with the built-in values, the reason is %s: %s",
			ruled.sidecar.Namespace, ruled.sidecar.Name, s.valuesErr, invalid.Reason, invalid.Message)
	}
	return nil
}

// isReported reports whether the status of a VectorSidecar is for its current spec.
func isReported(sidecar *v1alpha1.VectorSidecar) bool {
	return sidecar.Status.ObservedGeneration == sidecar.Generation && sidecar.DeletionTimestamp == nil &&
		apimeta.FindStatusCondition(sidecar.Status.Conditions, meta.ConditionReady) != nil
}

// applyReport replaces the decision by the status of the VectorSidecar.
func (r *result) applyReport() {
	status := &r.sidecar.Status
	r.decision.Environment, r.decision.TemplateSet = cmp.Or(status.Environment, r.decision.Environment), cmp.Or(status.TemplateSet, r.decision.TemplateSet)
	r.decision.Outdated, r.decision.Invalid, r.decision.IsWorkloadSpecific, r.decision.Findings = nil, reportedInvalid(status), false, nil
	decided := map[workload.Ref]*plan.Plan{}
	for i := range r.decision.Plans {
		decided[r.decision.Plans[i].Target] = &r.decision.Plans[i]
	}
	var plans []plan.Plan
	for _, record := range r.input.Workloads {
		view := record.View()
		if p := r.reportedPlan(&view, decided[record.Ref]); p != nil {
			plans = append(plans, *p)
		}
	}
	slices.SortFunc(plans, func(a, b plan.Plan) int {
		return cmp.Or(cmp.Compare(a.Target.Name, b.Target.Name), cmp.Compare(a.Target.Kind, b.Target.Kind))
	})
	r.decision.Plans = plan.Admit(plans, r.decision.Limit)
	if !slices.ContainsFunc(r.decision.Plans, func(p plan.Plan) bool { return p.StartsPods() }) {
		r.decision.Companions, r.decision.Missing = r.input.Companions, nil // The rendered companions are not needed.
	}
}

// reportedInvalid returns the reason in a status why no sidecar is injected, or nil if sidecars are injected.
func reportedInvalid(status *v1alpha1.VectorSidecarStatus) *desired.Invalid {
	valid := apimeta.FindStatusCondition(status.Conditions, meta.ConditionConfigValid)
	if valid == nil || valid.Status != metav1.ConditionFalse || status.Total().Injected > 0 {
		return nil
	}
	return &desired.Invalid{Reason: valid.Reason, Message: valid.Message + byReport}
}

// reportedPlan returns the plan of a workload according to the status, or nil for none. decided is the plan of the
// decision, or nil.
func (r *result) reportedPlan(view *workload.View, decided *plan.Plan) *plan.Plan {
	if !r.input.Selects(r.findRecord(view.Ref)) || !r.sidecar.Spec.IsEnabled() {
		return decided // Removing a sidecar needs no values.
	}
	status, manager := &r.sidecar.Status, meta.Manager(r.sidecar.Name)
	owned, carries := view.Owned[manager]
	carried := plan.ForReported(manager, view)
	i := slices.IndexFunc(status.Workloads, func(reported v1alpha1.WorkloadStatus) bool { return reported.Is(view.Kind, view.Name) })
	if i < 0 {
		isSettled := status.WorkloadsOmitted == 0 || owned.InjectedHash != "" && owned.InjectedHash == status.InjectedHash
		if carries && isSettled {
			carried.Rollout = carried.Rollout.WithPhase(&carried)
			return &carried
		}
		return withoutWait(decided)
	}
	reported := status.Workloads[i]
	reported.Message += byReport
	switch reported.State {
	case v1alpha1.StateFailed, v1alpha1.StatePodsBlocked, v1alpha1.StateRollingOut, v1alpha1.StateSoaking, v1alpha1.StateUnavailable, v1alpha1.StatePodsOutdated, v1alpha1.StateWithoutPods:
		if !carries {
			return withoutWait(decided) // The workload no longer has the sidecar.
		}
		carried.Rollout = reportedRollout(&reported).WithPhase(&carried)
		return &carried
	case v1alpha1.StateDeferred:
		if decided != nil && (decided.StartsPods() || decided.IsDeferred()) {
			return new(decided.WithBlock(&plan.Block{Kind: plan.BlockedByMode, Reason: reported.Reason, Message: reported.Message}))
		}
	case v1alpha1.StateWaiting:
		if decided != nil && decided.StartsPods() {
			return new(decided.WithBlock(&plan.Block{Kind: plan.BlockedByReport, Reason: reported.Reason, Message: reported.Message}))
		}
	default:
	}
	block := plan.Block{Kind: plan.BlockedByObstacle, Reason: reported.Reason, Message: reported.Message}
	switch reported.State {
	case v1alpha1.StateConflict:
		block.Kind = plan.BlockedByConflict
	case v1alpha1.StateSkipped:
		block.Kind = plan.BlockedByExclusion
	default:
	}
	blocked := plan.ForBlocked(manager, view, block)
	return &blocked
}

// reportedRollout returns the rollout that the status reports for a workload with the sidecar.
func reportedRollout(reported *v1alpha1.WorkloadStatus) plan.Rollout {
	switch reported.State {
	case v1alpha1.StateFailed:
		return plan.Rollout{Phase: plan.RolloutFailed, Reason: reported.Reason, Message: reported.Message}
	case v1alpha1.StatePodsBlocked:
		return plan.Rollout{Phase: plan.RolloutPodsBlocked, Reason: reported.Reason, Message: reported.Message}
	default:
		return plan.Rollout{InFlight: reported.State == v1alpha1.StateRollingOut || reported.State == v1alpha1.StateSoaking}
	}
}

// withoutWait returns a copy of a plan without a block that needs no user, such as a wait for a rollout slot. The block
// may be wrong, because the plans of other workloads, for which it waits, are assumptions.
func withoutWait(p *plan.Plan) *plan.Plan {
	if p == nil || p.Block == nil || !p.Block.Kind.EndsByItself() {
		return p
	}
	unblocked := *p
	unblocked.Block = nil
	return &unblocked
}
