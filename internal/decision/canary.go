// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// canarySelector parses the selector in spec.rollout.canary. It returns a selector of all workloads if the field is not
// set, or has a number of workloads.
func canarySelector(sidecar *v1alpha1.VectorSidecar) (labels.Selector, *desired.Invalid) {
	rollout := sidecar.Spec.Rollout
	if rollout == nil || rollout.Canary == nil || rollout.Canary.Workloads != nil {
		return labels.Everything(), nil
	}
	selector, err := metav1.LabelSelectorAsSelector(rollout.Canary.Selector)
	if err != nil {
		return nil, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: desired.Describe(sidecar) + ": spec.rollout.canary.selector: " + err.Error()}
	}
	return selector, nil
}

// findCanaries returns the positions of the plans of canaries. The workloads are the workloads that should have the
// sidecar, in the order of their plans. If the spec has a number of canaries, some workloads are skipped because they do
// not test the sidecar. A workload is skipped if its injection is excluded or blocked, if it failed before, or if it does
// not start pods. If no workload starts pods, the first workloads are canaries. hasChange is false if all workloads that
// could be canaries wait for spec.rollout.mode, so that they do not test a change now.
func (d *Decision) findCanaries(input *Input, workloads []evaluatedWorkload) (canaries []int, hasChange bool) {
	rollout := input.Sidecar.Spec.Rollout
	if rollout == nil || rollout.Canary == nil {
		return nil, false
	}
	number := rollout.Canary.Workloads
	selector, _ := canarySelector(input.Sidecar) // Match has rejected an invalid selector.
	d.LacksCanary = len(workloads) > 0
	count := len(workloads)
	if number != nil {
		if scaled, err := intstr.GetScaledValueFromIntOrPercent(number, d.Matched, true); err == nil { // The CRD allows only numbers and percentages.
			count = max(1, scaled)
		}
	}
	var starting, idle []int
	for i := range workloads {
		p := &d.Plans[i]
		if p.Desired == nil || p.IsSkipped() || p.Rollout.FailedBefore || !selector.Matches(workloads[i].Record.Labels()) {
			continue
		}
		d.LacksCanary = false
		switch {
		case p.IsStopped() || p.Rejection != nil:
		case number != nil && p.Workload.Idle != "" && (p.Workload.Evidence == 0 || !p.IsCurrent()):
			idle = append(idle, i)
		default:
			starting = append(starting, i)
		}
	}
	if len(starting) == 0 {
		starting = idle
	}
	hasChange = slices.ContainsFunc(starting, func(i int) bool { return !d.Plans[i].IsDeferred() })
	return starting[:min(count, len(starting))], hasChange
}

// canaryStatus returns the progress of the canaries with a change. A finished change stays finished: a canary that
// loses its pods later does not block other workloads.
func (d *Decision) canaryStatus(input *Input, change string) *v1alpha1.CanaryStatus {
	status, previous := &v1alpha1.CanaryStatus{Change: change}, input.Sidecar.Status.Canary
	wasFinished := change != "" && previous != nil && *previous == v1alpha1.CanaryStatus{Change: change, State: v1alpha1.CanaryFinished}
	var isProven, isMoving, isProvenElsewhere, isOutdated bool
	for i := range d.Plans {
		p := &d.Plans[i]
		isProven = isProven || p.IsCanary && p.Rollout.HasEvidence
		isMoving = isMoving || p.IsCanary && (p.IsCanaryInProgress() || p.Rollout.Phase == plan.RolloutFailed || p.Workload.Evidence > 0)
		isProvenElsewhere = isProvenElsewhere || !p.IsCanary && p.Rollout.HasEvidence
		isOutdated = isOutdated || p.HasChange(plan.Update)
	}
	switch {
	case isProven, wasFinished, isProvenElsewhere && !isOutdated, isPromoted(input.Sidecar, v1alpha1.PromotionOfCanary(change)):
		status.State = v1alpha1.CanaryFinished
	case isMoving:
		status.State = v1alpha1.CanaryProgressing
	default:
		status.State = v1alpha1.CanaryWithoutPods
	}
	return status
}

// evidence reports whether a pod of a workload without a rollout in progress has run the current sidecar for the
// soak. nextCheck is the end of the soak, or zero if the result does not depend on the time.
func (input *Input) evidence(state *workload.State) (hasEvidence bool, nextCheck time.Time) {
	switch {
	case state.Evidence == 0:
	case state.Rollout == workload.RolloutComplete:
		return true, time.Time{}
	case state.Rollout == workload.PodsNotReplaced:
		if input.Now.IsZero() || state.TimeInState(input.Now) >= input.soak() {
			return true, time.Time{}
		}
		return false, input.dueAfter(state, input.soak())
	}
	return false, time.Time{}
}

// noEvidenceMessage returns the message of workloads that wait while no canary has evidence.
func noEvidenceMessage(sidecar *v1alpha1.VectorSidecar) string {
	return "waiting for a canary whose pods run this sidecar for the soak (spec.rollout.canary): no canary has such pods; start one, or run kubectl vectorsidecar rollout promote " + meta.Argument(sidecar.Name)
}
