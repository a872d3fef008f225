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
	// Hash is the Hash of the live values of the fields that the manager has applied, or "" if it has not
	// applied fields.
	Hash string
	// Containers, which include init containers, and Volumes are the names of the manager's items: the items
	// that it owns, and Leftovers.
	Containers, Volumes []string
	// Lost are the names of volumes in the manager's record that are missing in the pod template, because
	// another field manager has applied the list without them. Mounts of these volumes still belong to the
	// manager.
	Lost []string
	// PullSecrets are the names of the manager's pull secrets. SharedPullSecrets are the PullSecrets that a
	// deployment tool also lists.
	PullSecrets, SharedPullSecrets []string
	// Leftovers are the names of items that the pod template lists for the manager, although the manager no
	// longer owns them. The cause is a rollback to an earlier revision.
	Leftovers []string
	// DeployerContainers are the names in Containers that now run an image of a deployment tool.
	DeployerContainers []string
	// Named is true if the manager's managedFields include names of the application's items. Patched is true if its
	// patch entries contain more than mounts in the application's containers (see TrimEntry).
	Named, Patched bool
	// IsRecorded reports whether only the pod template, and not managedFields, records the items of the
	// manager.
	IsRecorded bool
	// Unfinished is true if the operator was interrupted between two requests of one change. The last request removes
	// the entries that set Named and Patched.
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
	// WrittenBy is the value of the mark written-by, or "" if the manager does not own it.
	WrittenBy string
	// Orphan is the value of the mark of an orphaned sidecar, or "" for other sidecars. A sidecar is orphaned
	// if its VectorSidecar was deleted and left it in the workload. The field manager of the operator itself
	// owns the mark.
	Orphan string
	// FailedBefore reports whether the manager has items in the pod template and owns the mark that the
	// workload already failed before the last write.
	FailedBefore bool
	// Waits reports whether the manager owns the record that the workload waits for a change. State contains
	// the record. Tree does not, because the record differs between workloads.
	Waits bool
	// HasPlainAnnotations reports whether the manager owns the annotations that do not have the name of a
	// VectorSidecar in their key.
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

// IsOwnedBy reports whether the workload has fields or records of a field manager, other than the record that it waits for
// the sidecar.
func (v *View) IsOwnedBy(manager string) bool {
	owned, ok := v.Owned[manager]
	return ok && (!owned.Waits || !owned.IsEmpty())
}

// IsEmpty reports whether the manager no longer has fields in the workload, although it still has a
// managedFields entry or a record. This happens if another field manager replaces atomic lists.
func (o *OwnedFields) IsEmpty() bool {
	if o.IsRecorded {
		return !o.hasItems()
	}
	return len(o.Containers)+len(o.Volumes)+len(o.PullSecrets)+len(o.PodLabels)+len(o.PodAnnotations)+len(tree.MapAt(o.Tree, "metadata", "annotations")) == 0
}
