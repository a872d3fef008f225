// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// patch returns the patch that a write sends before its apply, or nil if the apply is sufficient. A write that only
// records inputs has a patch of annotations only.
func (c *candidate) patch(write *Write) (map[string]any, error) {
	owned, mounts := c.owned, c.view.OwnedMounts(c.manager)
	desiredMounts, isRecorded := c.desired.overlay.Mounts, c.view.Adapter().Traits.AtomicLists
	isEnough := len(owned.Leftovers) == 0 && (!owned.Patched || owned.IsEmpty()) && owned.Orphan == ""
	if !isRecorded && (c.change == RecordOnly || isEnough && !c.diff.isStale && haveMounts(desiredMounts, mounts)) {
		return nil, nil
	}
	body := write.Apply
	if len(write.InitAfter) > 0 {
		body = write.orderedBody()
	}
	current, desired := currentTree(c.manager, c.view), withMounts(body, desiredMounts)
	c.desired.removeStaleEnv(c.manager, current, desired, c.view)
	return patchBetween(c.manager, c.view, current, desired)
}

// removalContent returns the write that removes all fields of the manager from the workload. The write has no patch if
// an empty apply removes all fields. Items of a deployment tool stay: a container that now runs an image of the tool
// loses only the operator's fields, and a pull secret that the tool also lists is not removed, because not every tool
// owns the items that it lists.
func (c *candidate) removalContent() (Write, error) {
	view, owned, mounts := c.view, c.owned, c.view.OwnedMounts(c.manager)
	_, hasInjectedEnv := view.InjectedEnvFor(c.manager)
	isEnough := !hasInjectedEnv && len(mounts)+len(owned.Leftovers)+len(owned.DeployerContainers)+len(owned.SharedPullSecrets) == 0 && !owned.Patched && !owned.Named && owned.Orphan == ""
	marks := view.Marks[c.manager]
	if isEnough && !view.Adapter().Traits.AtomicLists && (len(marks.PodAnnotations) == 0 || len(marks.SharedItems) > 0) {
		patch, err := c.marksPatch()
		return Write{Patch: patch}, err
	}
	remaining := map[string]any{}
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(tree.MapAt(owned.Tree, tree.Pod...)[list]) {
			if name := tree.Name(item); slices.Contains(owned.DeployerContainers, name) {
				pod := tree.EnsureMap(remaining, tree.Pod...)
				pod[list] = append(tree.List(pod[list]), map[string]any{"name": name})
			}
		}
	}
	current := currentTree(c.manager, view)
	c.desired.removeStaleEnv(c.manager, current, remaining, view)
	addMarks(current, marks.Annotations, "metadata", "annotations")
	addMarks(current, marks.PodAnnotations, "spec", "template", "metadata", "annotations")
	patch, err := patchBetween(c.manager, view, current, remaining)
	return Write{Patch: patch, ReleaseOnly: true}, err
}

// marksPatch returns a patch that removes the manager's marks from the workload's annotations, or nil if there are
// none. It does not restart pods.
func (c *candidate) marksPatch() (map[string]any, error) {
	current := map[string]any{}
	addMarks(current, c.view.Marks[c.manager].Annotations, "metadata", "annotations")
	return patchBetween(c.manager, c.view, current, map[string]any{})
}

// addMarks adds annotation keys to a tree of current fields, so that the difference to the desired tree removes them.
// It sets empty values, because only the keys matter.
func addMarks(target map[string]any, keys []string, path ...string) {
	for _, key := range keys {
		if annotations := tree.EnsureMap(target, path...); annotations[key] == nil {
			annotations[key] = ""
		}
	}
}

// currentTree returns all fields that belong to a manager in a workload: the fields that it owns, its mounts in the
// application's containers, and the marks of an orphaned sidecar or of a wait, which the next write removes.
func currentTree(manager string, view *workload.View) map[string]any {
	owned := view.Owned[manager]
	current := withMounts(owned.Tree, view.OwnedMounts(manager))
	if owned.Waits { // The value is irrelevant, because the patch removes the annotation by its key.
		tree.EnsureMap(current, "metadata", "annotations")[meta.AnnotationWaiting(manager)] = ""
	}
	// A pull secret that other field managers also list must stay at its position, so the patch must not contain it.
	if pod := tree.MapAt(current, tree.Pod...); pod["imagePullSecrets"] != nil {
		pod["imagePullSecrets"] = slices.DeleteFunc(tree.List(pod["imagePullSecrets"]), func(item any) bool {
			return view.SharesPullSecret(manager, tree.Name(item))
		})
	}
	if owned.Orphan != "" {
		tree.EnsureMap(current, "metadata", "annotations")[meta.AnnotationOrphaned(manager)] = owned.Orphan
	}
	return current
}

// withMounts returns a copy of a tree with mounts in the application's containers. It adds a container that the tree
// lacks with only its name.
func withMounts(body map[string]any, mounts []workload.Mount) map[string]any {
	body = runtime.DeepCopyJSON(body)
	if body == nil {
		body = map[string]any{}
	}
	pod := tree.EnsureMap(body, tree.Pod...)
	for i := range mounts {
		// Every value of the type converts.
		mount, _ := runtime.DefaultUnstructuredConverter.ToUnstructured(&mounts[i].VolumeMount)
		container := containerIn(pod, "containers", mounts[i].Container)
		container["volumeMounts"] = append(tree.List(container["volumeMounts"]), mount)
	}
	return body
}

// patchBetween returns the strategic merge patch that changes the current tree into the desired tree, or nil if they
// are equal. Both trees contain only a part of the workload, and the patch does not change other fields.
func patchBetween(manager string, view *workload.View, current, desired map[string]any) (map[string]any, error) {
	listOtherItems(tree.EnsureMap(current, tree.Pod...), tree.EnsureMap(desired, tree.Pod...), manager, view)
	preserveCollections(current, desired)
	preserveSharedAnnotations(manager, current, desired, view)
	ports := extractPortLists(current, desired, view)
	currentJSON, err := json.Marshal(current)
	if err != nil {
		return nil, fmt.Errorf("encoding the current fields: %w", err)
	}
	desiredJSON, err := json.Marshal(desired)
	if err != nil {
		return nil, fmt.Errorf("encoding the desired fields: %w", err)
	}
	text, err := strategicpatch.CreateTwoWayMergePatch(currentJSON, desiredJSON, workload.Schema())
	if err != nil {
		return nil, fmt.Errorf("comparing current and desired fields: %w", err)
	}
	var patch map[string]any
	if err := json.Unmarshal(text, &patch); err != nil {
		return nil, fmt.Errorf("decoding the patch: %w", err)
	}
	if addPortLists(patch, desired, ports); len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}
