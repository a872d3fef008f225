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
	becauseHalf     = "a change of the sidecar was broken off"
	becauseGone     = "somebody has taken the sidecar out"
	becauseLost     = "a ConfigMap that the sidecar reads is gone"
	becauseOrder    = "an init container of the workload runs before the sidecar"
	becauseRank     = "another VectorSidecar of the workload is the first now"
	becauseRelease  = "another release of the operator"
	becauseUnknown  = "the annotation rendered-from does not say what the sidecar was rendered from"
	becauseUnnamed  = "what the sidecar is rendered from"
	becauseNotNoted = "the workload's annotations do not say what it carries"
)

// because returns the cause of the plan's write to a workload that should have the sidecar.
func (p *Plan) because(want applied, has fit, policy Policy, view *workload.View) string {
	write := func() string { return causeText(p.causes(want, has, policy, view), p.changes(want, view)) }
	owned := view.Owned[p.Manager]
	if policy.Renew || owned.Unfinished || !view.IsAsWritten(p.Manager) {
		return write() // The annotations do not describe the sidecar in the workload.
	}
	return policy.Texts.of(fmt.Sprintln(p.Action, has, want.isPlain, owned.HasPlainAnnotations,
		p.Desired.injectedHash, owned.InjectedHash, owned.AskedHash, owned.AppliedHash, owned.RenderedFrom, p.Desired.asked.of(view)), write)
}

// causes returns the reasons to write a workload that should have the sidecar.
func (p *Plan) causes(want applied, has fit, policy Policy, view *workload.View) []string {
	owned := view.Owned[p.Manager]
	if !p.Carries {
		return []string{meta.Title(p.Desired.sidecar) + " selects the workload"}
	}
	if owned.IsEmpty() {
		return []string{becauseGone}
	}
	var found []string
	add := func(is bool, because string) {
		if is {
			found = append(found, because)
		}
	}
	add(owned.Unfinished && !has.isCurrent(), becauseHalf)
	add(policy.Renew, becauseLost)
	add(!policy.Renew && !owned.Unfinished && p.isDrifted(has, &owned, view), fmt.Sprintf("somebody has changed the sidecar (the last writer on record is %q)", view.LastWriter))
	add(p.Action == Update && has.isCurrent(), becauseOrder)
	add(owned.HasPlainAnnotations != want.isPlain, becauseRank)
	isNamed, isUpgrade := false, false
	_, _, wereRead := readAsked(owned.AskedHash)
	for _, change := range p.Desired.asked.inputs(view, wereRead...).since(owned.RenderedFrom) {
		found = append(found, change.Text)
		isNamed, isUpgrade = isNamed || change.Part != PartOperator, isUpgrade || change.Part == PartOperator
	}
	switch {
	case has.isAsked:
		add(!has.isRendered && !isUpgrade && owned.InjectedHash != p.Desired.injectedHash, becauseRelease)
	case owned.RenderedFrom == "" && len(found) == 0:
		found = append(found, becauseUnknown)
	case !isNamed && owned.RenderedFrom != "":
		found = append(found, becauseUnnamed)
	}
	add(len(found) == 0, becauseNotNoted)
	return found
}

// isDrifted reports whether the sidecar of the workload differs from the last write. The annotations of the
// workload record the last write.
func (p *Plan) isDrifted(has fit, owned *workload.Owned, view *workload.View) bool {
	switch {
	case has.isRendered:
		return false
	case owned.AppliedHash == "": // A rollout undo also removes the annotations.
		return owned.InjectedHash == "" || owned.InjectedHash == p.Desired.injectedHash || len(owned.Leftovers) > 0
	}
	return !view.IsAsWritten(p.Manager)
}

// changes lists the changes of the plan in the pod template of a workload with the sidecar. The list is empty
// for an unfinished change, because the managed fields of a patch include API server defaults.
func (p *Plan) changes(want applied, view *workload.View) []string {
	owned := view.Owned[p.Manager]
	if !p.Carries || owned.IsEmpty() || owned.Unfinished || p.Action == RecordOnly {
		return nil
	}
	before, after := withMounts(owned.Tree, view.OwnedMounts(p.Manager)), withMounts(want.tree, p.Desired.overlay.Mounts)
	// The application's container exists, with or without a mount of the sidecar's volumes.
	nameOthers(tree.EnsureMap(before, tree.Pod...), tree.EnsureMap(after, tree.Pod...), p.Manager, view)
	return workload.Changes(before, after)
}
