// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// causeAdmission is the recorded cause for a sidecar that the API server injected.
const causeAdmission = "the API server injected the sidecar when the workload was written (admissionInjection)"

// IsAdmissionCause reports whether the recorded cause of a workload means that the API server, and not the
// operator, injected the sidecar.
func IsAdmissionCause(cause string) bool { return cause == causeAdmission }

// isAdmissionInjected reports whether a workload has exactly the desired sidecar, although the operator has not recorded
// that it wrote the sidecar.
func (d *Desired) isAdmissionInjected(manager string, desiredBody *applyBody, view *workload.View) bool {
	owned := view.Owned[manager]
	switch {
	case len(d.overlay.Mounts) > 0:
		return false
	case owned.IsRecorded: // The record names the items of the sidecar for any writer. The workload's annotations record the write.
		return owned.InjectedHash != d.InjectedHash() && !owned.IsEmpty() && d.hasTemplate(manager, desiredBody, view)
	}
	return owned.IsAdmissionInjectedAs(tree.MapAt(desiredBody.tree, "spec", "template"))
}

// Annotations returns the annotations of a workload with a sidecar that the API server injected and no sidecar of
// another VectorSidecar. It returns nil if they depend on the workload.
func (d *Desired) Annotations(manager string) map[string]string {
	if len(d.input.Keys) > 0 {
		return nil
	}
	c := &candidate{manager: manager, desired: d, view: &workload.View{}, body: d.standalone}
	noted := c.annotatedBody(causeAdmission)
	annotations := map[string]string{}
	for key, value := range tree.MapAt(noted, "metadata", "annotations") {
		annotations[key], _ = value.(string)
	}
	return annotations
}

// AboutText returns the text of the pod annotation about the sidecar, or "" for none.
func (d *Desired) AboutText() string { return d.notes.AboutText }

// isRecordOnly reports whether the plan writes only managed fields or annotations, and so does not change pods.
func (p *Plan) isRecordOnly() bool { return p.HasChange(RecordOnly, Adopt) }
