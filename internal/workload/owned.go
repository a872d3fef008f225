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
	// Hash is the Hash of the live values of the fields that the manager has applied,
	// "" if there are none.
	Hash string
	// Containers (with init containers) and Volumes are the names of the manager's list
	// items: those that it owns, and Leftovers.
	Containers, Volumes []string
	// Lost are volumes that its record names and that are not there: an owner has applied the list
	// of them anew. Mounts of them are the manager's all the same.
	Lost []string
	// PullSecrets are the names of its imagePullSecrets, SharedPullSecrets those of them that
	// a deployer lists as well.
	PullSecrets, SharedPullSecrets []string
	// Leftovers are the names of items that the pod template lists as the manager's
	// although it no longer owns them: somebody rolled back to a revision.
	Leftovers []string
	// Taken are those of Containers that now run a deployer's image.
	Taken []string
	// Named reports whether the manager's managedFields include names of the owner's
	// items, Patched whether its patch entries hold more than mounts in the
	// application's containers: see Trim. Tree includes these fields as well.
	Named, Patched bool
	// IsRecorded reports whether the pod template alone records what is the manager's.
	IsRecorded bool
	// Unfinished reports whether the operator was interrupted between two requests of
	// one change: the last one leaves neither Named nor Patched.
	Unfinished bool
	// Tree holds the live values of the fields that the manager owns, including those
	// only patched, and the whole of Leftovers, which it does not own: {metadata:
	// {annotations}, spec: {template}}.
	Tree map[string]any
	// PodLabels and PodAnnotations are the keys that it owns in the pod template.
	PodLabels, PodAnnotations []string
	// InjectedHash is the annotation injected-hash, if the manager owns it.
	InjectedHash string
	// AskedHash and AppliedHash are the annotations of these names, if the manager owns
	// them: the input when Tree was written, and what was written.
	AskedHash, AppliedHash string
	// ChangeCause and RenderedFrom are the annotations of these names, if the manager
	// owns them: why it was written, and what Tree was rendered from.
	ChangeCause, RenderedFrom string
	// WrittenBy is the mark of that name, if the manager owns it.
	WrittenBy string
	// Orphan is the mark of a sidecar that its VectorSidecar left for good, or "". The
	// operator itself owns it.
	Orphan string
	// FailedBefore reports whether the manager owns the mark that the workload failed before its last write, and what was written.
	FailedBefore bool
	// Waits reports whether the manager owns a note that the workload waits for a change. The
	// note itself is in State, and not in Tree: it is the same for no two workloads.
	Waits bool
	// HasPlainAnnotations reports whether the manager owns the annotations that have no
	// VectorSidecar in their key.
	HasPlainAnnotations bool
}

// read sets the fields that follow from the tree of the manager's live values.
func (o *Owned) read(owned map[string]any, theirs *deployed) {
	o.Tree = owned
	for key, value := range tree.At(owned, "metadata", "annotations") {
		text, _ := value.(string)
		switch {
		case meta.Is(key, meta.AnnotationInjectedHash):
			o.InjectedHash, o.HasPlainAnnotations = text, key == meta.AnnotationInjectedHash
		case meta.Is(key, meta.AnnotationInputHash):
			o.AskedHash = text
		case meta.Is(key, meta.AnnotationAppliedHash):
			o.AppliedHash = text
		case meta.Is(key, meta.AnnotationChangeCause):
			o.ChangeCause = text
		case meta.Is(key, meta.AnnotationRenderedFrom):
			o.RenderedFrom = text
		case meta.IsFailedBefore(key):
			o.FailedBefore = true
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
	for _, item := range tree.List(pod[pullSecrets]) {
		name := tree.Name(item)
		o.PullSecrets = append(o.PullSecrets, name)
		if theirs.pullSecret(name) {
			o.SharedPullSecrets = append(o.SharedPullSecrets, name)
		}
	}
	o.readKeys()
	o.FailedBefore = o.FailedBefore && o.hasItems()
}

// hasItems reports whether the pod template has anything of the manager.
func (o *Owned) hasItems() bool {
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets) > 0
}

// readKeys sets the keys in the pods' metadata that follow from the tree.
func (o *Owned) readKeys() {
	pods := tree.At(o.Tree, "spec", "template", "metadata")
	o.PodLabels = slices.Sorted(maps.Keys(tree.Map(pods["labels"])))
	o.PodAnnotations = slices.Sorted(maps.Keys(tree.Map(pods["annotations"])))
}

// Mounts reports whether mounts of a volume are the manager's.
func (o *Owned) Mounts(volume string) bool {
	return slices.Contains(o.Volumes, volume) || slices.Contains(o.Lost, volume)
}

// IsEmpty reports whether the manager has nothing left in the workload, though it has a
// managedFields entry, or a record: an owner who replaces atomic lists leaves it behind.
func (o *Owned) IsEmpty() bool {
	if o.IsRecorded {
		return !o.hasItems()
	}
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets)+len(o.PodLabels)+len(o.PodAnnotations)+len(tree.At(o.Tree, "metadata", "annotations")) == 0
}
