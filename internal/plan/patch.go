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

// patchToApply returns the patch for a plan that applies a body, or nil if the apply is enough. A plan that
// only records inputs writes only annotations.
func patchToApply(p *Plan, view *workload.View) (map[string]any, error) {
	owned, mounts := view.Owned[p.Manager], view.OwnedMounts(p.Manager)
	desiredMounts, isRecorded := p.Desired.overlay.Mounts, view.Adapter().Traits.AtomicLists
	isEnough := len(owned.Leftovers) == 0 && (!owned.Patched || owned.IsEmpty()) && owned.Orphan == ""
	isStale := p.Desired.isStale(p.Manager, view)
	if !isRecorded && (p.Action == RecordOnly || isEnough && !isStale && haveMounts(desiredMounts, mounts)) {
		return nil, nil
	}
	body := p.Apply
	if len(p.InitAfter) > 0 {
		body = p.orderedBody()
	}
	current, desired := currentTree(p.Manager, view), withMounts(body, desiredMounts)
	p.Desired.removeStaleEnv(p.Manager, current, desired, view)
	return difference(p.Manager, view, current, desired)
}

// makeRemovalPatch makes a removal patch all fields of the manager out and drop the manager from managedFields. It makes
// no patch if releasing the applied fields is enough. A container that now runs the image of a deployment tool
// belongs to that tool and loses only the operator's fields. A pull secret that a deployment tool lists stays,
// because not every tool owns the items that it lists.
func (p *Plan) makeRemovalPatch(view *workload.View) error {
	if unreadMessage := view.Unread.Template; unreadMessage != "" {
		return fmt.Errorf("removing the sidecar: %s; the operator retries after that field is corrected", unreadMessage)
	}
	owned, mounts := view.Owned[p.Manager], view.OwnedMounts(p.Manager)
	_, isTold := view.InjectedEnvFor(p.Manager)
	isEnough := !isTold && len(mounts)+len(owned.Leftovers)+len(owned.DeployerContainers)+len(owned.SharedPullSecrets) == 0 && !owned.Patched && !owned.Named && owned.Orphan == ""
	marks := view.Marks[p.Manager]
	if isEnough && !view.Adapter().Traits.AtomicLists && (len(marks.PodAnnotations) == 0 || len(marks.SharedItems) > 0) {
		patch, err := withoutMarks(p.Manager, view)
		p.Patch = patch
		return err
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
	current := currentTree(p.Manager, view)
	p.Desired.removeStaleEnv(p.Manager, current, remaining, view)
	addMarks(current, marks.Annotations, "metadata", "annotations")
	addMarks(current, marks.PodAnnotations, "spec", "template", "metadata", "annotations")
	patch, err := difference(p.Manager, view, current, remaining)
	p.Patch, p.ReleaseOnly = patch, true
	return err
}

// withoutMarks returns the patch that removes the marks of a manager from the metadata of the workload, or nil
// if there are none. It does not restart pods.
func withoutMarks(manager string, view *workload.View) (map[string]any, error) {
	current := map[string]any{}
	addMarks(current, view.Marks[manager].Annotations, "metadata", "annotations")
	return difference(manager, view, current, map[string]any{})
}

// addMarks adds the keys of annotations to a tree from which a patch is made. The patch names only the keys.
func addMarks(target map[string]any, keys []string, path ...string) {
	for _, key := range keys {
		if annotations := tree.EnsureMap(target, path...); annotations[key] == nil {
			annotations[key] = ""
		}
	}
}

// currentTree returns all fields that a workload has for a manager: the fields that the manager owns, its mounts in
// the application's containers, and the marks of an orphaned sidecar or of a workload that waits. The next
// write removes the marks.
func currentTree(manager string, view *workload.View) map[string]any {
	owned := view.Owned[manager]
	current := withMounts(owned.Tree, view.OwnedMounts(manager))
	if owned.Waits { // The patch that removes the annotation names only its key.
		tree.EnsureMap(current, "metadata", "annotations")[meta.AnnotationWaiting(manager)] = ""
	}
	// An item that other field managers also list must stay at its position.
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

// withMounts returns a tree with mounts in the application's containers, which are otherwise listed only by
// name.
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

// difference returns the strategic merge patch from one tree to another, or nil if they are the same. The trees
// do not contain the whole workload. The patch does not change fields that are in neither tree.
func difference(manager string, view *workload.View, current, desired map[string]any) (map[string]any, error) {
	nameOthers(tree.EnsureMap(current, tree.Pod...), tree.EnsureMap(desired, tree.Pod...), manager, view)
	preserveCollections(current, desired)
	preserveSharedAnnotations(manager, current, desired, view)
	ports := takePorts(current, desired, view)
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
	if putPorts(patch, desired, ports); len(patch) == 0 {
		return nil, nil
	}
	return patch, nil
}
