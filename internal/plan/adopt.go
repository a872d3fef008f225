// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// becauseAdmission is the cause of a sidecar that the API server has put in.
const becauseAdmission = "the API server put the sidecar in when the workload was written (admissionInjection)"

// IsOfAdmission reports whether a cause that a workload carries says that the API server
// put in the sidecar, and not the operator.
func IsOfAdmission(cause string) bool { return cause == becauseAdmission }

// isPutIn reports whether the workload has exactly what is desired, and nobody on record for
// having written it.
func (d *Desired) isPutIn(manager string, want *applied, view *workload.View) bool {
	owned := view.Owned[manager]
	switch {
	case len(d.overlay.Mounts) > 0:
		return false
	case owned.IsRecorded: // It names what is ours, whoever wrote that; what was written is noted on the workload.
		return owned.InjectedHash != d.InjectedHash() && !owned.IsEmpty() && d.hasTemplate(manager, want, view)
	}
	return owned.IsPutInAs(tree.At(d.alone.tree, "spec", "template"))
}

// adopt takes over what the API server has put in: one apply of the whole, as ever, which
// changes no pod because it is there already.
func (p *Plan) adopt(want applied, policy Policy, view *workload.View) {
	p.Action, p.Force, p.Cause = Adopt, !policy.ReportDrift, becauseAdmission
	p.Apply = p.noted(want, p.Cause, policy, view)
	if view.Adapter().Traits.AtomicLists {
		p.makePatch(view)
	}
}

// Annotations are those of a workload that the API server has put the sidecar into, and no
// other; nil if they depend on the workload.
func (d *Desired) Annotations(manager string) map[string]string {
	if len(d.asked.Keys) > 0 {
		return nil
	}
	p := &Plan{Manager: manager, Desired: d}
	noted := p.noted(d.alone, becauseAdmission, Policy{}, &workload.View{})
	found := map[string]string{}
	for key, value := range tree.At(noted, "metadata", "annotations") {
		found[key], _ = value.(string)
	}
	return found
}

// IsRecordOnly reports whether the plan only records whose the sidecar is, or what it was rendered
// from, and changes no pod.
func (p *Plan) IsRecordOnly() bool { return p.Action == RecordOnly || p.Action == Adopt }
