// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// OwnedFields contains the fields that one field manager has merged into a workload.
type OwnedFields struct {
	// Hash is the digest of the live values of the fields that the manager has applied, or "" if it has applied none.
	Hash string
	// Containers and Volumes are the names of the manager's items: the items that it owns, and Leftovers. Containers
	// include init containers.
	Containers, Volumes []string
	// Lost are the names of recorded volumes that the pod template no longer has, because another field manager has
	// applied the list without them. Mounts of these volumes still belong to the manager.
	Lost []string
	// PullSecrets are the names of the manager's pull secrets. SharedPullSecrets are the PullSecrets that a
	// deployment tool also lists.
	PullSecrets, SharedPullSecrets []string
	// Leftovers are the names of items that belong to the manager according to an annotation of the pod template,
	// although the manager no longer owns them. They exist after a rollback to an earlier revision.
	Leftovers []string
	// DeployerContainers are the names in Containers that now run an image of a deployment tool.
	DeployerContainers []string
	// Named is true if the manager owns names of the application's items. Patched is true if it has patched more than
	// mounts in the application's containers (see TrimEntry).
	Named, Patched bool
	// IsRecorded reports whether the manager's items are recorded only in an annotation of the pod template, and not in
	// managedFields.
	IsRecorded bool
	// Unfinished is true if the operator was interrupted between the requests of one write. Its last request removes
	// the managedFields entries that set Named and Patched.
	Unfinished bool
	// Tree contains the live values of the fields that the manager owns, including fields that it has only
	// patched. It also contains all fields of Leftovers, which the manager does not own. Its form is {metadata:
	// {annotations}, spec: {template}}.
	Tree map[string]any
	// PodLabels and PodAnnotations are the keys in the pod template that the manager owns.
	PodLabels, PodAnnotations []string
	// InjectedHash is the value of the annotation injected-hash, or "" if the manager does not own it.
	InjectedHash string
	// InputHash and AppliedHash are the values of the annotations input-hash and applied-hash, or "" if the
	// manager does not own them. input-hash is a digest of the inputs of Tree, and applied-hash a digest of the
	// written fields.
	InputHash, AppliedHash string
	// ChangeCause and RenderedFrom are the values of the annotations with these names, or "" if the manager
	// does not own them. They record the cause of the last write and the inputs of Tree.
	ChangeCause, RenderedFrom string
	// WrittenBy is the value of the annotation written-by, or "" if the manager does not own it.
	WrittenBy string
	// Orphan is the value of the annotation that marks an orphaned sidecar, or "" for other sidecars. A sidecar is
	// orphaned if its VectorSidecar was deleted with deletionPolicy Orphan. The operator's own field manager owns the
	// annotation.
	Orphan string
	// FailedBefore reports whether the manager has items in the pod template, and owns the annotation that marks the
	// workload as failed before the last write.
	FailedBefore bool
	// Waits reports whether the manager owns the annotation that records a wait of the workload. State contains the
	// record. Tree does not, because the record differs between workloads.
	Waits bool
	// HasPlainAnnotations reports whether the manager owns the annotations with plain keys, which do not contain the
	// name of a VectorSidecar.
	HasPlainAnnotations bool
}

// setTree sets Tree, and all fields that are computed from Tree.
func (o *OwnedFields) setTree(owned map[string]any, deployers *deployed) {
	o.Tree = owned
	for key, value := range tree.MapAt(owned, "metadata", "annotations") {
		text, _ := value.(string)
		switch {
		case meta.IsAnnotationKey(key, meta.AnnotationInjectedHash):
			o.InjectedHash, o.HasPlainAnnotations = text, key == meta.AnnotationInjectedHash
		case meta.IsAnnotationKey(key, meta.AnnotationInputHash):
			o.InputHash = text
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
		if _, hasImage := tree.Map(item)["image"]; !hasImage && deployers.hasContainer(name) {
			o.DeployerContainers = append(o.DeployerContainers, name)
		}
	}
	for _, item := range tree.List(pod["volumes"]) {
		o.Volumes = append(o.Volumes, tree.Name(item))
	}
	for _, item := range tree.List(pod[pullSecrets]) {
		name := tree.Name(item)
		o.PullSecrets = append(o.PullSecrets, name)
		if deployers.hasPullSecret(name) {
			o.SharedPullSecrets = append(o.SharedPullSecrets, name)
		}
	}
	o.readKeys()
	o.FailedBefore = o.FailedBefore && o.hasItems()
}

// hasItems reports whether the pod template has items of the manager.
func (o *OwnedFields) hasItems() bool {
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets) > 0
}

// readKeys sets PodLabels and PodAnnotations from Tree.
func (o *OwnedFields) readKeys() {
	pods := tree.MapAt(o.Tree, "spec", "template", "metadata")
	o.PodLabels = slices.Sorted(maps.Keys(tree.Map(pods["labels"])))
	o.PodAnnotations = slices.Sorted(maps.Keys(tree.Map(pods["annotations"])))
}

// HasMounts reports whether mounts of a volume belong to the manager.
func (o *OwnedFields) HasMounts(volume string) bool {
	return slices.Contains(o.Volumes, volume) || slices.Contains(o.Lost, volume)
}

// IsOwnedBy reports whether a field manager has fields or records in the workload. The record of a wait does not count.
func (v *View) IsOwnedBy(manager string) bool {
	owned, ok := v.Owned[manager]
	return ok && (!owned.Waits || !owned.IsEmpty())
}

// IsEmpty reports whether the manager has no fields in the workload, although it still has a managedFields entry or a
// record. This happens after another field manager has replaced an atomic list.
func (o *OwnedFields) IsEmpty() bool {
	if o.IsRecorded {
		return !o.hasItems()
	}
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets)+len(o.PodLabels)+len(o.PodAnnotations)+len(tree.MapAt(o.Tree, "metadata", "annotations")) == 0
}
