// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// These are the causes without parameters.
const (
	causeInterrupted      = "an earlier change of the sidecar was interrupted"
	causeSidecarRemoved   = "another writer removed the sidecar"
	causeConfigMapMissing = "a ConfigMap that the sidecar reads does not exist"
	causeInitOrder        = "an init container of the workload runs before the sidecar"
	causePrecedence       = "another VectorSidecar of the workload takes precedence now"
	causeOperatorRelease  = "another version of the operator renders the sidecar differently"
	causeUnknownInput     = "the annotation rendered-from does not list the inputs of the sidecar"
	causeUnnamedInput     = "inputs of the sidecar changed"
	causeNotRecorded      = "the workload's annotations do not describe its sidecar"
)

// changeCause returns a text for users that explains why the operator changes the workload's sidecar. It caches the
// text for workloads with the same state.
func (c *candidate) changeCause() string {
	write := func() string { return causeText(c.causes(), c.changes()) }
	owned := &c.owned
	if c.policy.Renew || owned.Unfinished || !c.view.IsAsWritten(c.manager) {
		return write() // The cache key contains the annotations, which do not describe the sidecar in the workload here.
	}
	return c.policy.Texts.get(fmt.Sprintln(c.change, c.diff, c.body.isPlain, owned.HasPlainAnnotations,
		c.desired.injectedHash, owned.InjectedHash, owned.InputHash, owned.AppliedHash, owned.RenderedFrom, c.desired.input.annotationFor(c.view)), write)
}

// causes returns the reasons why the operator changes the workload's sidecar, at least one.
func (c *candidate) causes() []string {
	owned, diff := &c.owned, &c.diff
	if !c.existing.IsOwned {
		return []string{meta.Title(c.desired.sidecar) + " selects the workload"}
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
	add(c.policy.Renew, causeConfigMapMissing)
	add(!c.policy.Renew && !owned.Unfinished && c.isDrifted(), fmt.Sprintf("another writer changed the sidecar (last writer: %q)", c.view.LastWriter))
	add(c.change == Update && diff.isCurrent(), causeInitOrder)
	add(owned.HasPlainAnnotations != c.body.isPlain, causePrecedence)
	isNamed, isUpgrade := false, false
	_, _, wereRead := parseInputHash(owned.InputHash)
	for _, change := range c.desired.input.inputs(c.view, wereRead...).changesSince(owned.RenderedFrom) {
		causes = append(causes, change.Text)
		isNamed, isUpgrade = isNamed || change.Kind != InputOperator, isUpgrade || change.Kind == InputOperator
	}
	switch {
	case diff.isInputCurrent:
		add(!diff.isRendered && !isUpgrade && owned.InjectedHash != c.desired.injectedHash, causeOperatorRelease)
	case owned.RenderedFrom == "" && len(causes) == 0:
		causes = append(causes, causeUnknownInput)
	case !isNamed && owned.RenderedFrom != "":
		causes = append(causes, causeUnnamedInput)
	}
	add(len(causes) == 0, causeNotRecorded)
	return causes
}

// isDrifted reports whether another writer has changed the workload's sidecar since the last write, which the
// workload's annotations record.
func (c *candidate) isDrifted() bool {
	switch {
	case c.diff.isRendered:
		return false
	case c.owned.AppliedHash == "": // A rollout undo also removes the annotations.
		return c.owned.InjectedHash == "" || c.owned.InjectedHash == c.desired.injectedHash || len(c.owned.Leftovers) > 0
	}
	return !c.view.IsAsWritten(c.manager)
}

// changes describes the differences between the workload's sidecar and the desired sidecar in the pod template. It
// returns nil for a first injection, and after an interrupted write, because the managed fields then include defaults
// of the API server.
func (c *candidate) changes() []string {
	if !c.existing.IsOwned || c.owned.IsEmpty() || c.owned.Unfinished || c.change == RecordOnly {
		return nil
	}
	oldTree, newTree := withMounts(c.owned.Tree, c.view.OwnedMounts(c.manager)), withMounts(c.body.tree, c.desired.overlay.Mounts)
	// The application's containers exist in both trees, so only their mounts of the sidecar's volumes are differences.
	listOtherItems(tree.EnsureMap(oldTree, tree.Pod...), tree.EnsureMap(newTree, tree.Pod...), c.manager, c.view)
	return workload.Changes(oldTree, newTree)
}
