// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// canaries is spec.rollout.canary.
type canaries struct {
	number   *intstr.IntOrString
	selector labels.Selector
}

// canariesOf reads spec.rollout.canary, nil if there is none.
func canariesOf(sidecar *v1alpha1.VectorSidecar) (*canaries, *desired.Invalid) {
	rollout := sidecar.Spec.Rollout
	if rollout == nil || rollout.Canary == nil {
		return nil, nil
	}
	if rollout.Canary.Workloads != nil {
		return &canaries{number: rollout.Canary.Workloads}, nil
	}
	selector, err := metav1.LabelSelectorAsSelector(rollout.Canary.Selector)
	if err != nil {
		return nil, &desired.Invalid{Reason: meta.ReasonInvalidSelector, Message: desired.Describe(sidecar) + ": spec.rollout.canary.selector: " + err.Error()}
	}
	return &canaries{selector: selector}, nil
}

// markCanaries marks the plans of canaries among those of the workloads that should have the
// sidecar, which are in the same order. Of a number, the next one takes the place of one that
// does not get the sidecar: to be refused is no test of it, and neither is a workload that failed before.
func (d *Decision) markCanaries(facts *Facts, workloads []Workload) {
	of, _ := canariesOf(facts.Sidecar) // Match has refused an invalid one.
	if of == nil {
		return
	}
	d.LacksCanary = len(workloads) > 0
	left := len(workloads)
	if of.number != nil {
		if scaled, err := intstr.GetScaledValueFromIntOrPercent(of.number, d.Matched, true); err == nil { // The CRD allows nothing else.
			left = max(1, scaled)
		}
	}
	for i := range workloads {
		p := &d.Plans[i]
		if p.Desired == nil || p.Skipped() || p.FailedBefore || of.selector != nil && !of.selector.Matches(workloads[i].Record.Labels()) {
			continue
		}
		d.LacksCanary = false
		if p.Action == plan.Blocked || p.Action == plan.Conflict || p.Denied != nil {
			continue
		}
		if left--; left < 0 {
			break
		}
		p.IsCanary = true
	}
}
