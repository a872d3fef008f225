// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Owned is what one field manager has merged into a workload.
type Owned struct {
	// Hash of the live values of the fields that the manager has applied; see Hash.
	// Empty if there are none.
	Hash string
	// Containers, init containers included, and Volumes are the names of the
	// list items that are the manager's: those that it owns and Leftovers.
	Containers, Volumes []string
	// Leftovers are the names of items that the pod template itself says to be the
	// manager's though it owns them no more: somebody went back to a revision.
	Leftovers []string
	// Taken are those of Containers that run a deployer's image now.
	Taken []string
	// Named reports whether the manager is on record for names of items that are the
	// owner's, and Patched whether its patches are for more than the mounts in the
	// application's containers: see Trim. What they hold is in Tree as well.
	Named, Patched bool
	// Unfinished reports whether the operator was broken off between two requests of
	// one change. What an earlier release has left on record is not that.
	Unfinished bool
	// Tree holds the live values of the fields that the manager owns, those that it
	// has only patched included, and the whole of Leftovers that it does not even own:
	// {metadata: {annotations}, spec: {template}}.
	Tree map[string]any
	// PodLabels and PodAnnotations are the keys that it owns of the pods'.
	PodLabels, PodAnnotations []string
	// InjectedHash is the annotation injected-hash, if the manager owns it.
	InjectedHash string
	// AskedHash and AppliedHash are the annotations of these names, if the manager
	// owns them: what was asked for when Tree was written, and what was written.
	AskedHash, AppliedHash string
	// ChangeCause and RenderedFrom are the annotations of these names, if the manager
	// owns them: why it was written, and what Tree was rendered from.
	ChangeCause, RenderedFrom string
	// WrittenBy is the mark of that name, if the manager owns it.
	WrittenBy string
	// Orphan is the mark by which the VectorSidecar has left it for good, "" if it
	// has not. It is the operator's own.
	Orphan string
	// HasPlainAnnotations tells that the manager owns the annotations that
	// have no VectorSidecar in their key.
	HasPlainAnnotations bool
}

// read fills in what a tree of the manager's live values tells.
func (o *Owned) read(owned map[string]any, theirs *deployed) {
	o.Tree = owned
	for key, value := range tree.At(owned, "metadata", "annotations") {
		text, _ := value.(string)
		switch {
		case meta.Is(key, meta.AnnotationInjectedHash):
			o.InjectedHash, o.HasPlainAnnotations = text, key == meta.AnnotationInjectedHash
		case meta.Is(key, meta.AnnotationAskedHash):
			o.AskedHash = text
		case meta.Is(key, meta.AnnotationAppliedHash):
			o.AppliedHash = text
		case meta.Is(key, meta.AnnotationChangeCause):
			o.ChangeCause = text
		case meta.Is(key, meta.AnnotationRenderedFrom):
			o.RenderedFrom = text
		}
	}
	pod := tree.At(owned, tree.Pod...)
	for _, item := range slices.Concat(tree.List(pod["initContainers"]), tree.List(pod["containers"])) {
		name := tree.Name(item)
		o.Containers = append(o.Containers, name)
		if _, ours := tree.Map(item)["image"]; !ours && theirs.container(name) {
			o.Taken = append(o.Taken, name)
		}
	}
	for _, item := range tree.List(pod["volumes"]) {
		o.Volumes = append(o.Volumes, tree.Name(item))
	}
	pods := tree.At(owned, "spec", "template", "metadata")
	o.PodLabels = slices.Sorted(maps.Keys(tree.Map(pods["labels"])))
	o.PodAnnotations = slices.Sorted(maps.Keys(tree.Map(pods["annotations"])))
}

// IsEmpty reports whether nothing in the workload is the manager's any more, though it
// is on record.
func (o *Owned) IsEmpty() bool {
	return len(o.Containers)+len(o.Volumes)+len(o.PodLabels)+len(o.PodAnnotations)+len(tree.At(o.Tree, "metadata", "annotations")) == 0
}
