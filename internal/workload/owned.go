// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Owned contains the fields that one field manager has merged into a workload.
type Owned struct {
	// Hash is the Hash of the live values of the fields that the manager has applied, or "" for none.
	Hash string
	// Containers (with init containers) and Volumes are the names of the manager's list items: the items that
	// it owns, and Leftovers.
	Containers, Volumes []string
	// Lost are volumes in the manager's record that are missing, because an owner has applied a list without
	// them. Mounts of these volumes still belong to the manager.
	Lost []string
	// PullSecrets are the names of the manager's imagePullSecrets. SharedPullSecrets are the names among them
	// that a deployment tool also lists.
	PullSecrets, SharedPullSecrets []string
	// Leftovers are the names of items that the pod template lists for the manager, although the manager does
	// not own them anymore, because of a rollback to an earlier revision.
	Leftovers []string
	// DeployerContainers are the names of Containers that now run an image of a deployment tool.
	DeployerContainers []string
	// Named reports whether the manager's managedFields include names of the application's items. Patched
	// reports whether its patch entries contain more than mounts in the application's containers (see Trim).
	// Tree also includes these fields.
	Named, Patched bool
	// IsRecorded reports whether only the pod template records the items of the manager.
	IsRecorded bool
	// Unfinished reports whether the operator was interrupted between two requests of one change. The last
	// request sets Named and Patched to false.
	Unfinished bool
	// Tree contains the live values of the fields that the manager owns, including fields that it only patched,
	// and all fields of Leftovers, which it does not own: {metadata: {annotations}, spec: {template}}.
	Tree map[string]any
	// PodLabels and PodAnnotations are the keys that the manager owns in the pod template.
	PodLabels, PodAnnotations []string
	// InjectedHash is the annotation injected-hash, if the manager owns it.
	InjectedHash string
	// AskedHash and AppliedHash are the annotations input-hash and applied-hash, if the manager owns them. They
	// record the input of Tree and the written fields.
	AskedHash, AppliedHash string
	// ChangeCause and RenderedFrom are the annotations of these names, if the manager owns them. They record
	// the cause of the write and the inputs of Tree.
	ChangeCause, RenderedFrom string
	// WrittenBy is the mark written-by, if the manager owns it.
	WrittenBy string
	// Orphan is the mark of a sidecar that its deleted VectorSidecar left in the workload, or "". The
	// operator's own field manager owns the mark.
	Orphan string
	// FailedBefore reports whether the manager owns written fields, and the mark that the workload failed
	// before the last write.
	FailedBefore bool
	// Waits reports whether the manager owns a record that the workload waits for a change. The record is in
	// State and not in Tree, because it differs between workloads.
	Waits bool
	// HasPlainAnnotations reports whether the manager owns the annotations without a VectorSidecar in their
	// key.
	HasPlainAnnotations bool
}

// read sets the fields that are computed from the tree of the manager's live values.
func (o *Owned) read(owned map[string]any, deployers *deployed) {
	o.Tree = owned
	for key, value := range tree.MapAt(owned, "metadata", "annotations") {
		text, _ := value.(string)
		switch {
		case meta.IsAnnotationKey(key, meta.AnnotationInjectedHash):
			o.InjectedHash, o.HasPlainAnnotations = text, key == meta.AnnotationInjectedHash
		case meta.IsAnnotationKey(key, meta.AnnotationInputHash):
			o.AskedHash = text
		case meta.IsAnnotationKey(key, meta.AnnotationAppliedHash):
			o.AppliedHash = text
		case meta.IsAnnotationKey(key, meta.AnnotationChangeCause):
			o.ChangeCause = text
		case meta.IsAnnotationKey(key, meta.AnnotationRenderedFrom):
			o.RenderedFrom = text
		case meta.IsFailedBefore(key):
			o.FailedBefore = true
		}
	}
	pod := tree.MapAt(owned, tree.Pod...)
	for _, item := range slices.Concat(tree.List(pod["initContainers"]), tree.List(pod["containers"])) {
		name := tree.Name(item)
		o.Containers = append(o.Containers, name)
		if _, hasImage := tree.Map(item)["image"]; !hasImage && deployers.container(name) {
			o.DeployerContainers = append(o.DeployerContainers, name)
		}
	}
	for _, item := range tree.List(pod["volumes"]) {
		o.Volumes = append(o.Volumes, tree.Name(item))
	}
	for _, item := range tree.List(pod[pullSecrets]) {
		name := tree.Name(item)
		o.PullSecrets = append(o.PullSecrets, name)
		if deployers.pullSecret(name) {
			o.SharedPullSecrets = append(o.SharedPullSecrets, name)
		}
	}
	o.readKeys()
	o.FailedBefore = o.FailedBefore && o.hasItems()
}

// hasItems reports whether the pod template has items of the manager.
func (o *Owned) hasItems() bool {
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets) > 0
}

// readKeys sets the keys of the pods' metadata that are in the tree.
func (o *Owned) readKeys() {
	pods := tree.MapAt(o.Tree, "spec", "template", "metadata")
	o.PodLabels = slices.Sorted(maps.Keys(tree.Map(pods["labels"])))
	o.PodAnnotations = slices.Sorted(maps.Keys(tree.Map(pods["annotations"])))
}

// Mounts reports whether mounts of a volume belong to the manager.
func (o *Owned) Mounts(volume string) bool {
	return slices.Contains(o.Volumes, volume) || slices.Contains(o.Lost, volume)
}

// IsEmpty reports whether the manager has no fields left in the workload, although it has a managedFields entry
// or a record. This happens if an owner replaces atomic lists.
func (o *Owned) IsEmpty() bool {
	if o.IsRecorded {
		return !o.hasItems()
	}
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets)+len(o.PodLabels)+len(o.PodAnnotations)+len(tree.MapAt(o.Tree, "metadata", "annotations")) == 0
}
