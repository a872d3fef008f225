// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// nameOthers lists the workload's other items by name in both trees, in their order, so that the patch does not
// remove or move them. New items are last, unless the second tree defines their position.
func nameOthers(from, to map[string]any, manager string, view *workload.View) {
	ours := view.Owned[manager]
	for list, live := range map[string][]string{
		"initContainers": containerNames(view, true),
		"containers":     containerNames(view, false),
		"volumes":        view.Volumes,

		"imagePullSecrets": view.PullSecrets,
	} {
		if from[list] == nil && to[list] == nil {
			continue
		}
		isOurs := func(name string) bool { return slices.Contains(ours.Containers, name) }
		switch list {
		case "volumes":
			isOurs = func(name string) bool { return slices.Contains(ours.Volumes, name) }
		case "imagePullSecrets":
			isOurs = func(name string) bool {
				return slices.Contains(ours.PullSecrets, name) && !view.SharesPullSecret(manager, name)
			}
		}
		saysWhere := slices.ContainsFunc(tree.List(to[list]), func(item any) bool {
			return list == "initContainers" && !isOurs(tree.Name(item)) && slices.Contains(live, tree.Name(item))
		})
		for _, side := range []map[string]any{from, to} {
			// Empty, not nil: nil would delete the list.
			items := append([]any{}, tree.List(side[list])...)
			for _, name := range live {
				if !isOurs(name) && !slices.ContainsFunc(items, func(item any) bool { return tree.Name(item) == name }) {
					items = append(items, map[string]any{"name": name})
				}
			}
			side[list] = items
		}
		sortAs(live, tree.List(from[list]))
		if !saysWhere {
			sortAs(live, tree.List(to[list]))
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

// sortAs sorts items in their live order. New items are last.
func sortAs(live []string, items []any) {
	at := func(item any) int {
		if i := slices.Index(live, tree.Name(item)); i >= 0 {
			return i
		}
		return len(live)
	}
	slices.SortStableFunc(items, func(a, b any) int { return at(a) - at(b) })
}

// mergedLists are the lists of a container that other field managers may add items to.
var mergedLists = []string{"env", "ports", "volumeMounts"}

// keepBeside adds the maps and lists that other field managers share to the second tree. If only the first tree
// had a shared map or list, the patch would delete all of it.
func keepBeside(from, to map[string]any) {
	for _, path := range [][]string{{"metadata", "annotations"}, {"spec", "template", "metadata", "annotations"}, {"spec", "template", "metadata", "labels"}} {
		if tree.MapAt(from, path...) != nil {
			tree.EnsureMap(to, path...)
		}
	}
	before, after := tree.MapAt(from, tree.Pod...), tree.MapAt(to, tree.Pod...)
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(after[list]) {
			was := slices.IndexFunc(tree.List(before[list]), func(other any) bool { return tree.Name(other) == tree.Name(item) })
			if was < 0 {
				continue
			}
			for _, key := range mergedLists {
				if tree.Map(tree.List(before[list])[was])[key] != nil && tree.Map(item)[key] == nil {
					tree.Map(item)[key] = []any{}
				}
			}
		}
	}
}

// keepShared adds the annotations that another VectorSidecar also has to the second tree.
func keepShared(manager string, from, to map[string]any, view *workload.View) {
	for key, value := range tree.MapAt(from, "metadata", "annotations") {
		for other, owned := range view.Owned {
			if _, isShared := tree.MapAt(owned.Tree, "metadata", "annotations")[key]; isShared && other != manager {
				tree.EnsureMap(to, "metadata", "annotations")[key] = value
			}
		}
	}
}
