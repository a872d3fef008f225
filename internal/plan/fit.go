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

// comparison is the result of comparing a workload's sidecar with the desired sidecar.
type comparison struct {
	// isRendered reports whether the workload has the current rendering, and none of its injected environment
	// variables is stale.
	isRendered bool
	// isAsked reports whether the workload's annotations record the current requested input.
	isAsked bool
	// isStale reports whether the application's containers have injected environment variables that the desired
	// sidecar does not inject.
	isStale bool
	// isKept reports whether the workload keeps another rendering. That rendering was written for the current
	// input, and its fields have not changed since that write.
	isKept bool
}

func compare(manager string, desired *Desired, desiredBody *applied, policy Policy, view *workload.View) comparison {
	owned := view.Owned[manager]
	isStale := desired.isStale(manager, view)
	result := comparison{
		isStale:    isStale,
		isRendered: !isStale && desired.isApplied(manager, desiredBody, view),
		isAsked:    desired.input.isIn(owned.AskedHash, view),
	}
	result.isKept = !result.isRendered && result.isAsked && !policy.Renew && owned.HasPlainAnnotations == desiredBody.isPlain && view.IsAsWritten(manager)
	return result
}

// isCurrent reports whether the workload's pods do not need a write.
func (f comparison) isCurrent() bool { return f.isRendered || f.isKept }

// annotatedBody returns the apply body with annotations for the input, the digest of the written fields, and
// the cause of the write. The annotations enable later releases to find that no write is needed.
func (p *Plan) annotatedBody(desiredBody applied, cause string, policy Policy, view *workload.View) map[string]any {
	desired := p.Desired
	key := func(plain string) string { return plain }
	if !desiredBody.isPlain {
		key = func(plain string) string { return meta.AnnotationKeyFor(plain, meta.SidecarName(p.Manager)) }
	}
	root, metadata := maps.Clone(desiredBody.tree), maps.Clone(tree.Map(desiredBody.tree["metadata"]))
	annotations := maps.Clone(tree.Map(metadata["annotations"]))
	inputHash := desired.input.annotationFor(view)
	annotations[key(meta.AnnotationInputHash)] = inputHash
	annotations[key(meta.AnnotationAppliedHash)] = workload.AppliedHash(desiredBody.hash, desired.overlay.Mounts)
	if inputs := policy.Texts.get(inputHash, func() string { return desired.input.inputs(view).String() }); inputs != "" {
		annotations[key(meta.AnnotationRenderedFrom)] = inputs
	}
	if cause != "" {
		annotations[key(meta.AnnotationChangeCause)] = cause
	}
	if p.IsRecordOnly() && p.Existing.HasFailureMark { // The mark belongs to the last write of the pod template.
		annotations[meta.AnnotationFailedBefore(p.Manager)] = "true"
	}
	metadata["annotations"], root["metadata"] = annotations, metadata
	return root
}

// needsNote reports whether a workload with the current rendering must get new annotations, because they record
// another input or another applied-hash. The write does not restart pods. With correct annotations, the next
// release of the operator does not need to write the workload.
func (f comparison) needsNote(manager string, desiredBody *applied, desired *Desired, view *workload.View) bool {
	owned := view.Owned[manager]
	return !f.isAsked || owned.AppliedHash != workload.AppliedHash(desiredBody.hash, desired.overlay.Mounts)
}

// keptObstacle returns an obstacle for a sidecar that the workload keeps. It checks only for port conflicts,
// because no other conflict in findObstacle can appear after the injection.
func keptObstacle(manager string, _ *Desired, _ Policy, view *workload.View) *Block {
	owned := view.Owned[manager]
	for i := range view.Containers {
		c := &view.Containers[i]
		if !slices.Contains(owned.Containers, c.Name) {
			continue
		}
		if blocker := portConflict(&corev1.Container{Name: c.Name, Ports: c.Ports}, owned, view); blocker != nil {
			return blocker
		}
	}
	return nil
}

// isBehind reports whether an init container of the application runs before a native sidecar that the workload
// keeps.
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
