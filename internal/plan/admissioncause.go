// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// causeAdmission is the cause that the operator records for a sidecar that the API server injected.
const causeAdmission = "the API server injected the sidecar when the workload was written (admissionInjection)"

// IsAdmissionCause reports whether a recorded cause is the cause of an injection by the API server, and not by the
// operator.
func IsAdmissionCause(cause string) bool { return cause == causeAdmission }

// isAdmissionInjected reports whether the API server injected the desired sidecar into a workload: the workload has
// exactly this sidecar, but its annotations do not record a write by the operator.
func (d *Desired) isAdmissionInjected(manager string, desiredBody *applyBody, view *workload.View) bool {
	owned := view.Owned[manager]
	switch {
	case len(d.overlay.Mounts) > 0:
		return false
	case owned.IsRecorded: // A record lists the sidecar's items for every writer, so only the annotations show whether the operator wrote them.
		return owned.InjectedHash != d.InjectedHash() && !owned.IsEmpty() && d.hasTemplate(manager, desiredBody, view)
	}
	return owned.IsAdmissionInjectedAs(tree.MapAt(desiredBody.tree, "spec", "template"))
}

// Annotations returns the annotations of a workload into which the API server has injected the sidecar. It returns nil
// if the templates have read values of the workload, because the annotations then differ between workloads. The
// workload has no sidecar of another VectorSidecar.
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

// AboutText returns the text for application teams in the pod annotation AnnotationAbout, or "" for no annotation.
func (d *Desired) AboutText() string { return d.notes.AboutText }

// isRecordOnly reports whether the plan writes only annotations or managed fields. Such a write does not restart pods.
func (p *Plan) isRecordOnly() bool { return p.HasChange(RecordOnly, Adopt) }
