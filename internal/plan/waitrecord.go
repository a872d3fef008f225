// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// NewWaitRecord returns the body of an apply that records since when a workload waits for a change. The apply keeps all
// other fields of the manager.
func NewWaitRecord(manager string, wait workload.Wait, view *workload.View) map[string]any {
	record := NewWaitRemoval(manager, view)
	tree.EnsureMap(record, "metadata", "annotations")[meta.AnnotationWaiting(manager)] = wait.String()
	return record
}

// NewWaitRemoval returns the body of an apply that removes the record of a wait and keeps all other fields of the
// manager. For kinds with atomic lists, the body is empty: the manager owns no fields that an empty apply could remove,
// and an apply of its lists would take them from the application.
func NewWaitRemoval(manager string, view *workload.View) map[string]any {
	body := runtime.DeepCopyJSON(view.Owned[manager].Tree)
	if body == nil || view.Adapter().Traits.AtomicLists {
		return map[string]any{}
	}
	return body
}

// RequestDigest returns the digest of the requested input, which is the same in all releases.
func (d *Desired) RequestDigest() string { return d.input.Digest }

// fixesSidecar reports whether the write fixes a sidecar that is damaged, incomplete or missing.
func (c *candidate) fixesSidecar() bool {
	owned := &c.owned
	if c.policy.ReportDrift && !owned.Unfinished && !owned.IsEmpty() {
		return false
	}
	isDamaged := owned.AppliedHash != "" && !c.view.IsAsWritten(c.manager)
	return isDamaged || owned.IsEmpty() || owned.Unfinished || len(owned.Leftovers) > 0 || c.policy.Renew || c.diff.isCurrent()
}

// hasTemplate reports whether the workload's pod template already has the desired sidecar, so that a write does not
// change the pod template.
func (d *Desired) hasTemplate(manager string, desiredBody *applyBody, view *workload.View) bool {
	owned := view.Owned[manager]
	template := func(body map[string]any) string { return workload.Hash(map[string]any{"spec": body["spec"]}) }
	return len(owned.Leftovers) == 0 && !d.isStale(manager, view) && template(owned.Tree) == template(desiredBody.tree) && haveMounts(d.overlay.Mounts, view.OwnedMounts(manager))
}
