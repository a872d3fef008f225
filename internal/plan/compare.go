// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// comparison is the result of comparing a workload's sidecar with the desired sidecar.
type comparison struct {
	// isRendered is true if the workload has the current rendering, and all of its injected environment variables are
	// current.
	isRendered bool
	// isInputCurrent is true if the workload's annotations record the current requested input.
	isInputCurrent bool
	// isStale reports whether the application's containers have environment variables of an earlier sidecar that the
	// desired sidecar does not inject.
	isStale bool
	// hasOtherKeys is true if the sidecar's annotations have other keys than desired, because another VectorSidecar now
	// has precedence in the workload.
	hasOtherKeys bool
	// keepsRendering is true if the workload keeps a sidecar that an earlier release rendered from the current input,
	// and that has not been changed since.
	keepsRendering bool
	// isInterrupted reports whether an earlier write of the operator was interrupted. The operator completes that write
	// before it makes other changes.
	isInterrupted bool
	// isDrift reports whether Update only corrects drift: other field managers have changed the current sidecar.
	isDrift bool
}

// newComparison compares the workload of a candidate with the desired sidecar.
func newComparison(c *candidate) comparison {
	owned := &c.owned
	diff := comparison{
		isInputCurrent: c.desired.input.isRecordedIn(owned.InputHash, c.view),
		isStale:        c.desired.isStale(c.manager, c.view),
		hasOtherKeys:   owned.HasPlainAnnotations != c.body.isPlain,
	}
	diff.isRendered = !diff.isStale && c.desired.isApplied(c.manager, &c.body, c.view)
	diff.keepsRendering = !diff.isRendered && diff.isInputCurrent && !c.policy.Renew && !diff.hasOtherKeys && c.view.IsAsWritten(c.manager)
	diff.isInterrupted = owned.Named || owned.Unfinished && diff.isCurrent()
	return diff
}

// compare compares the workload of a candidate with the desired sidecar. It returns the change that is needed, and the
// differences that determine it.
func compare(c *candidate) (Change, comparison) {
	diff := newComparison(c)
	switch {
	case diff.isInterrupted:
		return RecordOnly, diff
	case c.desired.isAdmissionInjected(c.manager, &c.body, c.view):
		return Adopt, diff
	case !c.existing.IsOwned, c.owned.IsEmpty():
		return Inject, diff
	case c.policy.StrictOrder && (diff.keepsRendering && hasLateSidecar(c.manager, c.view) || diff.isRendered && isOutOfOrder(c.manager, c.desired, c.view)):
		return Update, diff
	case diff.isRendered && needsRecord(c, &diff):
		return RecordOnly, diff
	case diff.isCurrent():
		return None, diff
	}
	isOutdated := !diff.isInputCurrent && (diff.isStale || c.owned.InjectedHash != c.desired.InjectedHash())
	diff.isDrift = !isOutdated && !diff.hasOtherKeys && !c.owned.Unfinished
	return Update, diff
}

// isCurrent reports whether the workload's pods need no change.
func (d *comparison) isCurrent() bool { return d.isRendered || d.keepsRendering }

// annotatedBody returns the apply body with annotations that record the requested input, the digest of the written
// fields, and the cause. From these annotations, a later release decides that no write is needed.
func (c *candidate) annotatedBody(cause string) map[string]any {
	desired, view := c.desired, c.view
	key := func(plain string) string { return plain }
	if !c.body.isPlain {
		key = func(plain string) string { return meta.AnnotationKeyFor(plain, meta.SidecarName(c.manager)) }
	}
	root, metadata := maps.Clone(c.body.tree), maps.Clone(tree.Map(c.body.tree["metadata"]))
	annotations := maps.Clone(tree.Map(metadata["annotations"]))
	inputHash := desired.input.annotationFor(view)
	annotations[key(meta.AnnotationInputHash)] = inputHash
	annotations[key(meta.AnnotationAppliedHash)] = workload.AppliedHash(c.body.hash, desired.overlay.Mounts)
	if inputs := c.policy.Texts.get(inputHash, func() string { return desired.input.inputs(view).String() }); inputs != "" {
		annotations[key(meta.AnnotationRenderedFrom)] = inputs
	}
	if cause != "" {
		annotations[key(meta.AnnotationChangeCause)] = cause
	}
	isRecordOnly := c.change == RecordOnly || c.change == Adopt
	if isRecordOnly && c.existing.HasFailureMark { // The mark belongs to the last write of the pod template.
		annotations[meta.AnnotationFailedBefore(c.manager)] = "true"
	}
	metadata["annotations"], root["metadata"] = annotations, metadata
	return root
}

// needsRecord reports whether a workload with the current rendering needs new annotations, because they record another
// input or another applied-hash. Writing them does not restart pods. Without the write, the next release of the
// operator might have to change the pod template.
func needsRecord(c *candidate, diff *comparison) bool {
	return !diff.isInputCurrent || c.owned.AppliedHash != workload.AppliedHash(c.body.hash, c.desired.overlay.Mounts)
}

// hasLateSidecar reports whether an init container of the application runs before a native sidecar of the manager.
func hasLateSidecar(manager string, view *workload.View) bool {
	native := map[string]bool{}
	for _, item := range tree.List(tree.MapAt(view.Owned[manager].Tree, tree.Pod...)["initContainers"]) {
		native[tree.Name(item)] = tree.Map(item)["restartPolicy"] == string(corev1.ContainerRestartPolicyAlways)
	}
	isLate := false
	for _, c := range view.Containers {
		switch {
		case !c.Init:
		case native[c.Name]:
			if isLate {
				return true
			}
		case view.ContainerOwner(c.Name) == "":
			isLate = true
		}
	}
	return false
}
