// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// defaultSoak is the default of spec.rollout.soak.
const defaultSoak = 30 * time.Second

// soak reads spec.rollout.soak.
func (f *Facts) soak() time.Duration {
	if rollout := f.Sidecar.Spec.Rollout; rollout != nil && rollout.Soak != nil {
		return rollout.Soak.Duration
	}
	return defaultSoak
}

// steadiest returns the longest time during which all pods have been available since
// the last rollout. If that is only assumed, the last status decides: it lists
// workloads that had not soaked when it was written, by this process or the one before.
func (f *Facts) steadiest(p *plan.Plan) time.Duration {
	state := p.State
	if state.IsAssumed && f.told(p) != "" {
		state.Steady = 0
	}
	return state.Steadiest(f.Now)
}

// told returns the state of a workload in the last status if its rollout had not
// finished, else "".
func (f *Facts) told(p *plan.Plan) v1alpha1.WorkloadState {
	for i := range f.Sidecar.Status.Workloads {
		status := &f.Sidecar.Status.Workloads[i]
		if !status.Is(p.Target.Kind, p.Target.Name) {
			continue
		}
		switch status.State {
		case v1alpha1.StateRollingOut, v1alpha1.StateSoaking, v1alpha1.StateFailed:
			return status.State
		default:
			return ""
		}
	}
	return ""
}

// isReportedAfter reports whether the last status was written after a write. Both times are known to the second, and the
// status of a pass comes right after its writes.
func (f *Facts) isReportedAfter(write time.Time) bool {
	reported := f.Sidecar.Status.LastReconcileTime
	return reported != nil && reported.Unix() >= write.Unix()
}
