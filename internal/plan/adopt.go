// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// causeAdmission is the cause of a sidecar that the API server injected.
const causeAdmission = "the API server put the sidecar in when the workload was written (admissionInjection)"

// IsOfAdmission reports whether a recorded cause of a workload means that the API server injected the sidecar,
// and not the operator.
func IsOfAdmission(cause string) bool { return cause == causeAdmission }

// isAdmissionInjected reports whether the workload has exactly the desired sidecar, although no field manager is recorded
// for it.
func (d *Desired) isAdmissionInjected(manager string, desiredBody *applied, view *workload.View) bool {
	owned := view.Owned[manager]
	switch {
	case len(d.overlay.Mounts) > 0:
		return false
	case owned.IsRecorded: // The record names the items of the sidecar for any writer. The workload's annotations record the write.
		return owned.InjectedHash != d.InjectedHash() && !owned.IsEmpty() && d.hasTemplate(manager, desiredBody, view)
	}
	return owned.IsAdmissionInjectedAs(tree.MapAt(d.standalone.tree, "spec", "template"))
}

// adopt makes the plan take ownership of the sidecar that the API server injected. It applies the whole
// sidecar, which does not change pods because they already have it.
func (p *Plan) adopt(desiredBody applied, policy Policy, view *workload.View) {
	p.Action, p.Force, p.Cause = Adopt, !policy.ReportDrift, causeAdmission
	p.Apply = p.annotatedBody(desiredBody, p.Cause, policy, view)
	if view.Adapter().Traits.AtomicLists {
		p.makePatch(view)
	}
}

// Annotations returns the annotations of a workload with a sidecar that the API server injected, if no other
// VectorSidecar has a sidecar in it. It returns nil if they depend on the workload.
func (d *Desired) Annotations(manager string) map[string]string {
	if len(d.input.Keys) > 0 {
		return nil
	}
	p := &Plan{Manager: manager, Desired: d}
	noted := p.annotatedBody(d.standalone, causeAdmission, Policy{}, &workload.View{})
	annotations := map[string]string{}
	for key, value := range tree.MapAt(noted, "metadata", "annotations") {
		annotations[key], _ = value.(string)
	}
	return annotations
}

// IsRecordOnly reports whether the plan records only the owner of the sidecar or its inputs, and does not
// change pods.
func (p *Plan) IsRecordOnly() bool { return p.Action == RecordOnly || p.Action == Adopt }
