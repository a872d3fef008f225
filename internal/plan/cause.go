// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Causes without parameters.
const (
	causeInterrupted      = "an earlier change of the sidecar was interrupted"
	causeSidecarRemoved   = "another writer removed the sidecar"
	causeConfigMapMissing = "a ConfigMap that the sidecar reads does not exist"
	causeInitOrder        = "an init container of the workload runs before the sidecar"
	causePrecedence       = "another VectorSidecar of the workload takes precedence now"
	causeOperatorRelease  = "another version of the operator"
	causeUnknownInput     = "the annotation rendered-from does not list the inputs of the sidecar"
	causeUnnamedInput     = "inputs of the sidecar"
	causeNotRecorded      = "the workload's annotations do not describe its sidecar"
)

// changeCause returns the text with the cause of the plan's write to a workload that should have the sidecar.
func (p *Plan) changeCause(desiredBody applied, diff comparison, policy Policy, view *workload.View) string {
	write := func() string {
		return causeText(p.causes(desiredBody, diff, policy, view), p.changes(desiredBody, view))
	}
	owned := view.Owned[p.Manager]
	if policy.Renew || owned.Unfinished || !view.IsAsWritten(p.Manager) {
		return write() // The annotations do not describe the sidecar in the workload.
	}
	return policy.Texts.get(fmt.Sprintln(p.Change, diff, desiredBody.isPlain, owned.HasPlainAnnotations,
		p.Desired.injectedHash, owned.InjectedHash, owned.AskedHash, owned.AppliedHash, owned.RenderedFrom, p.Desired.input.annotationFor(view)), write)
}

// causes returns the causes of the plan's write to a workload that should have the sidecar. The list is never
// empty.
func (p *Plan) causes(desiredBody applied, diff comparison, policy Policy, view *workload.View) []string {
	owned := view.Owned[p.Manager]
	if !p.Existing.IsOwned {
		return []string{meta.Title(p.Desired.sidecar) + " selects the workload"}
	}
	if owned.IsEmpty() {
		return []string{causeSidecarRemoved}
	}
	var causes []string
	add := func(condition bool, cause string) {
		if condition {
			causes = append(causes, cause)
		}
	}
	add(owned.Unfinished && !diff.isCurrent(), causeInterrupted)
	add(policy.Renew, causeConfigMapMissing)
	add(!policy.Renew && !owned.Unfinished && p.isDrifted(diff, &owned, view), fmt.Sprintf("another writer changed the sidecar (last writer: %q)", view.LastWriter))
	add(p.Change == Update && diff.isCurrent(), causeInitOrder)
	add(owned.HasPlainAnnotations != desiredBody.isPlain, causePrecedence)
	isNamed, isUpgrade := false, false
	_, _, wereRead := parseInputHash(owned.AskedHash)
	for _, change := range p.Desired.input.inputs(view, wereRead...).changesSince(owned.RenderedFrom) {
		causes = append(causes, change.Text)
		isNamed, isUpgrade = isNamed || change.Kind != InputOperator, isUpgrade || change.Kind == InputOperator
	}
	switch {
	case diff.isAsked:
		add(!diff.isRendered && !isUpgrade && owned.InjectedHash != p.Desired.injectedHash, causeOperatorRelease)
	case owned.RenderedFrom == "" && len(causes) == 0:
		causes = append(causes, causeUnknownInput)
	case !isNamed && owned.RenderedFrom != "":
		causes = append(causes, causeUnnamedInput)
	}
	add(len(causes) == 0, causeNotRecorded)
	return causes
}

// isDrifted reports whether the workload's sidecar differs from the sidecar of the last write, which the
// workload's annotations record.
func (p *Plan) isDrifted(diff comparison, owned *workload.Owned, view *workload.View) bool {
	switch {
	case diff.isRendered:
		return false
	case owned.AppliedHash == "": // A rollout undo also removes the annotations.
		return owned.InjectedHash == "" || owned.InjectedHash == p.Desired.injectedHash || len(owned.Leftovers) > 0
	}
	return !view.IsAsWritten(p.Manager)
}

// changes lists the differences between the workload's sidecar and the plan's body in the pod template. It
// returns nil if a change is unfinished, because the managed fields of a patch include defaults of the API
// server.
func (p *Plan) changes(desiredBody applied, view *workload.View) []string {
	owned := view.Owned[p.Manager]
	if !p.Existing.IsOwned || owned.IsEmpty() || owned.Unfinished || p.Change == RecordOnly {
		return nil
	}
	oldTree, newTree := withMounts(owned.Tree, view.OwnedMounts(p.Manager)), withMounts(desiredBody.tree, p.Desired.overlay.Mounts)
	// The application's container exists, with or without a mount of the sidecar's volumes.
	nameOthers(tree.EnsureMap(oldTree, tree.Pod...), tree.EnsureMap(newTree, tree.Pod...), p.Manager, view)
	return workload.Changes(oldTree, newTree)
}
