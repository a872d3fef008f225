// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// listOtherItems adds the names of the workload's other items to both trees in their live order. A patch between the
// trees then neither removes nor moves these items. New items are last, unless the desired tree defines their position.
func listOtherItems(current, desired map[string]any, manager string, view *workload.View) {
	owned := view.Owned[manager]
	for list, live := range map[string][]string{
		"initContainers": containerNames(view, true),
		"containers":     containerNames(view, false),
		"volumes":        volumeNames(view),

		"imagePullSecrets": view.PullSecrets,
	} {
		if current[list] == nil && desired[list] == nil {
			continue
		}
		isOwn := func(name string) bool { return slices.Contains(owned.Containers, name) }
		switch list {
		case "volumes":
			isOwn = func(name string) bool { return slices.Contains(owned.Volumes, name) }
		case "imagePullSecrets":
			isOwn = func(name string) bool {
				return slices.Contains(owned.PullSecrets, name) && !view.SharesPullSecret(manager, name)
			}
		}
		hasOrder := slices.ContainsFunc(tree.List(desired[list]), func(item any) bool {
			return list == "initContainers" && !isOwn(tree.Name(item)) && slices.Contains(live, tree.Name(item))
		})
		for _, side := range []map[string]any{current, desired} {
			// The list must be empty and not nil, because nil deletes the list.
			items := append([]any{}, tree.List(side[list])...)
			for _, name := range live {
				if !isOwn(name) && !slices.ContainsFunc(items, func(item any) bool { return tree.Name(item) == name }) {
					items = append(items, map[string]any{"name": name})
				}
			}
			side[list] = items
		}
		sortByOrder(live, tree.List(current[list]))
		if !hasOrder {
			sortByOrder(live, tree.List(desired[list]))
		}
	}
}

func containerNames(view *workload.View, init bool) []string {
	var names []string
	for _, c := range view.Containers {
		if c.Init == init {
			names = append(names, c.Name)
		}
	}
	return names
}

func volumeNames(view *workload.View) []string {
	names := make([]string, len(view.Volumes))
	for i := range view.Volumes {
		names[i] = view.Volumes[i].Name
	}
	return names
}

// sortByOrder sorts items in the order of a list of names. Items with other names are last.
func sortByOrder(live []string, items []any) {
	rank := func(item any) int {
		if i := slices.Index(live, tree.Name(item)); i >= 0 {
			return i
		}
		return len(live)
	}
	slices.SortStableFunc(items, func(a, b any) int { return rank(a) - rank(b) })
}

// mergedLists are the lists of a container to which other field managers may add items. The API server merges them by
// key.
var mergedLists = []string{"env", "ports", "volumeMounts"}

// preserveCollections adds an empty map or list to the desired tree for each shared one that only the current tree has.
// Without it, the patch would delete the whole map or list, including the items of other field managers.
func preserveCollections(current, desired map[string]any) {
	for _, path := range [][]string{{"metadata", "annotations"}, {"spec", "template", "metadata", "annotations"}, {"spec", "template", "metadata", "labels"}} {
		if tree.MapAt(current, path...) != nil {
			tree.EnsureMap(desired, path...)
		}
	}
	currentPod, desiredPod := tree.MapAt(current, tree.Pod...), tree.MapAt(desired, tree.Pod...)
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(desiredPod[list]) {
			i := slices.IndexFunc(tree.List(currentPod[list]), func(candidate any) bool { return tree.Name(candidate) == tree.Name(item) })
			if i < 0 {
				continue
			}
			for _, key := range mergedLists {
				if tree.Map(tree.List(currentPod[list])[i])[key] != nil && tree.Map(item)[key] == nil {
					tree.Map(item)[key] = []any{}
				}
			}
		}
	}
}

// preserveSharedAnnotations copies the annotations that another VectorSidecar also owns from the current to the desired
// tree, so that the patch does not remove them.
func preserveSharedAnnotations(manager string, current, desired map[string]any, view *workload.View) {
	for key, value := range tree.MapAt(current, "metadata", "annotations") {
		for otherManager, owned := range view.Owned {
			if _, isShared := tree.MapAt(owned.Tree, "metadata", "annotations")[key]; isShared && otherManager != manager {
				tree.EnsureMap(desired, "metadata", "annotations")[key] = value
			}
		}
	}
}
