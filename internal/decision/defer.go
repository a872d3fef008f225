// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"fmt"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// waitFor returns the wait of a workload for spec.rollout.mode, and whether an annotation of the workload records this
// wait. It returns nil if the workload does not wait.
func (m *mode) waitFor(input *Input, p *plan.Plan) (wait *workload.Wait, isRecorded bool) {
	if m.startsAtOnce(input, p) {
		return nil, false
	}
	recorded, ok := p.Workload.Waits[meta.AnnotationWaiting(p.Manager)]
	switch {
	case !ok || !p.Existing.Waits:
		return new(workload.NewWait(input.Now, &p.Workload)), false
	case m.setting == v1alpha1.ModeOnAppRollout && recorded.IsOver(&p.Workload):
		return nil, false
	case recorded.IsForeign():
		return new(workload.NewWait(recorded.StartedAt, &p.Workload)), false
	}
	return &recorded, true
}

// startsAtOnce reports whether a workload gets the change without waiting for spec.rollout.mode.
func (m *mode) startsAtOnce(input *Input, p *plan.Plan) bool {
	hasFailed := p.Existing.IsOwned && (p.Workload.Rollout == workload.RolloutFailed || input.reportedState(p) == v1alpha1.StateFailed || m.isReverted && isUnfinished(p))
	switch {
	case p.Write.AtOnce, hasFailed, m.isPromoted: // The pods of a failed workload may not run because of its current sidecar.
		return true
	case p.Change != plan.Inject:
		return false
	case m.setting == v1alpha1.ModeManual:
		return m.isEverywhere // A new workload gets the sidecar that all other workloads have.
	}
	return !p.Workload.Created.Before(input.Sidecar.CreationTimestamp.Time)
}

// isUnfinished reports whether some pods of a workload do not run its pod template. During a revert, these pods may
// fail like the pods of the failed workloads, although the status does not list the workload as failed while it waits.
func isUnfinished(p *plan.Plan) bool {
	return p.Workload.Rollout == workload.RolloutProgressing || p.Workload.Rollout == workload.RolloutUnavailable
}

// describeWait returns the reason and the message of a deferred workload. expiry is the end of the message, about
// spec.rollout.maxAge, or "".
func (m *mode) describeWait(e *evaluation, p *plan.Plan, expiry string) (reason, message string) {
	if m.setting == v1alpha1.ModeManual {
		return meta.ReasonWaitingForPromotion, fmt.Sprintf("waiting for approval (spec.rollout.mode is Manual): run kubectl vectorsidecar rollout promote vectorsidecar/%s%s", e.Sidecar.Name, expiry)
	}
	manner := "the sidecar follows in a second rollout"
	if e.isServedAtAdmission(p) {
		manner = "the API server injects the sidecar in the same rollout if it can (admissionInjection), otherwise the sidecar follows in a second rollout"
	}
	return meta.ReasonWaitingForAppRollout, fmt.Sprintf("waiting for the application owner's next change of the pod template; %s (spec.rollout.mode)%s", manner, expiry)
}

// isServedAtAdmission reports whether the API server can inject the sidecar when the application owner changes the
// workload. The owner's change and the sidecar are then one rollout.
func (e *evaluation) isServedAtAdmission(p *plan.Plan) bool {
	return slices.ContainsFunc(e.overlays, func(overlay desired.AdmissionOverlay) bool {
		return overlay.Rendered.Desired.InjectedHash() == p.WholeHash() && e.overlayBlockerFor(p.Target.Kind, &overlay) == ""
	})
}
