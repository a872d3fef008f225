// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// fit is the result of comparing the sidecar of a workload with its desired state.
type fit struct {
	// isRendered reports whether the workload has the current rendering, and no outdated injected environment
	// variables.
	isRendered bool
	// isAsked reports whether the annotations record a write for the current requested input.
	isAsked bool
	// isStale reports whether the application has injected environment variables that the desired sidecar does
	// not match.
	isStale bool
	// isKept reports whether the workload keeps another rendering, which was written for the current input and
	// has not changed since.
	isKept bool
}

func fitOf(manager string, desired *Desired, want *applied, policy Policy, view *workload.View) fit {
	owned := view.Owned[manager]
	isStale := desired.isStale(manager, view)
	found := fit{
		isStale:    isStale,
		isRendered: !isStale && desired.isApplied(manager, want, view),
		isAsked:    desired.asked.isIn(owned.AskedHash, view),
	}
	found.isKept = !found.isRendered && found.isAsked && !policy.Renew && owned.HasPlainAnnotations == want.isPlain && view.IsAsWritten(manager)
	return found
}

// isCurrent reports whether the pods do not need a write.
func (f fit) isCurrent() bool { return f.isRendered || f.isKept }

// noted returns the apply body with annotations for its input, its digest and the cause of the write. With
// these annotations, a later release finds that it does not need to write.
func (p *Plan) noted(want applied, because string, policy Policy, view *workload.View) map[string]any {
	desired := p.Desired
	key := func(plain string) string { return plain }
	if !want.isPlain {
		key = func(plain string) string { return meta.AnnotationKeyFor(plain, meta.SidecarName(p.Manager)) }
	}
	root, metadata := maps.Clone(want.tree), maps.Clone(tree.Map(want.tree["metadata"]))
	annotations := maps.Clone(tree.Map(metadata["annotations"]))
	asked := desired.asked.of(view)
	annotations[key(meta.AnnotationInputHash)] = asked
	annotations[key(meta.AnnotationAppliedHash)] = workload.AppliedHash(want.hash, desired.overlay.Mounts)
	if inputs := policy.Texts.of(asked, func() string { return desired.asked.inputs(view).String() }); inputs != "" {
		annotations[key(meta.AnnotationRenderedFrom)] = inputs
	}
	if because != "" {
		annotations[key(meta.AnnotationChangeCause)] = because
	}
	if p.IsRecordOnly() && p.HasFailureMark { // The mark belongs to the last write of the pod template.
		annotations[meta.AnnotationFailedBefore(p.Manager)] = "true"
	}
	metadata["annotations"], root["metadata"] = annotations, metadata
	return root
}

// needsNote reports whether a workload has the current rendering, but records another input or another
// applied-hash. The record is renewed without new pods, so that the next release of the operator finds a
// correct record and does not write.
func (f fit) needsNote(manager string, want *applied, desired *Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return !f.isAsked || owned.AppliedHash != workload.AppliedHash(want.hash, desired.overlay.Mounts)
}

// keptObstacle finds conflicts of a sidecar that is kept. Of the conflicts that findObstacle checks, only a
// port conflict can appear after the injection.
func keptObstacle(manager string, _ *Desired, _ Policy, view *workload.View) *obstacle {
	ours := view.Owned[manager]
	for i := range view.Containers {
		c := &view.Containers[i]
		if !slices.Contains(ours.Containers, c.Name) {
			continue
		}
		if found := portConflict(&corev1.Container{Name: c.Name, Ports: c.Ports}, ours, view); found != nil {
			return found
		}
	}
	return nil
}

// isBehind reports whether an init container of the application precedes a native sidecar that is kept.
func isBehind(manager string, view *workload.View) bool {
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
