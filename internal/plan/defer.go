// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Defer makes a plan that would give a workload its sidecar, or another one, do so later.
func (p *Plan) Defer(reason, message string) {
	p.Action, p.Reason, p.Message, p.Cause = Defer, reason, message, ""
	p.Apply, p.Patch, p.InitBefore, p.InitAfter = nil, nil, nil, nil
}

// NoteWait makes a deferred plan note on the workload since when it waits. The rest of what the
// workload carries stays as it is.
func (p *Plan) NoteWait(since workload.Wait, view *workload.View) {
	p.Apply, p.Force, p.ReleaseOnly = carried(p.Manager, view), true, false
	tree.Below(p.Apply, "metadata", "annotations")[meta.AnnotationWaiting(p.Manager)] = since.String()
}

// DropWait makes a plan that writes nothing remove that note.
func (p *Plan) DropWait(view *workload.View) {
	p.Action, p.Apply, p.ReleaseOnly = RecordOnly, carried(p.Manager, view), false
}

// carried returns the apply body that leaves all that a workload carries of a manager as it is,
// but for the note that it waits. Where lists have one owner, the manager has nothing on record
// that an apply could take out, and with its lists the apply would take the application's.
func carried(manager string, view *workload.View) map[string]any {
	body := runtime.DeepCopyJSON(view.Owned[manager].Tree)
	if body == nil || view.Adapter().Traits.AtomicLists {
		return map[string]any{}
	}
	return body
}

// Asked is a digest of what people ask for with the desired sidecar, the same in every release.
func (d *Desired) Asked() string { return d.asked.Digest }

// mends reports whether a write mends a sidecar that is damaged, half written or gone.
func (p *Plan) mends(has fit, policy Policy, view *workload.View) bool {
	owned := view.Owned[p.Manager]
	if policy.ReportDrift && !owned.Unfinished && !owned.IsEmpty() {
		return false
	}
	isDamaged := owned.AppliedHash != "" && !view.IsAsWritten(p.Manager)
	return isDamaged || owned.IsEmpty() || owned.Unfinished || len(owned.Leftovers) > 0 || policy.Renew || has.isCurrent()
}

// hasTemplate reports whether a write leaves the pod template as it is.
func (d *Desired) hasTemplate(manager string, want *applied, view *workload.View) bool {
	owned := view.Owned[manager]
	template := func(of map[string]any) string { return workload.Hash(map[string]any{"spec": of["spec"]}) }
	return len(owned.Leftovers) == 0 && !d.isStale(manager, view) && template(owned.Tree) == template(want.tree) && haveMounts(d.overlay.Mounts, view.MountsOf(manager))
}
