// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Managers returns the operator's field managers that have fields or annotations in a workload.
func Managers(object Object) []string {
	if !IsCarrier(object) {
		return nil
	}
	return ReadManagedFields(object).Managers
}

// recordedManagers returns the operator's field managers that occur in managedFields or in the annotations that list
// injected items.
func recordedManagers(object Object) []string {
	var managers []string
	entries := object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; isOperatorEntry(entry) {
			managers = append(managers, entry.Manager)
		}
	}
	for manager := range readInjectedItems(templateAnnotations(object)) {
		managers = append(managers, manager)
	}
	slices.Sort(managers)
	return slices.Compact(managers)
}

// readInjectedItems returns the items that each of the operator's managers has injected, from the annotations of a pod
// template that list them. It ignores annotations that are malformed or have the key of another manager.
func readInjectedItems(annotations map[string]string) map[string]meta.InjectedItems {
	var byManager map[string]meta.InjectedItems
	for key, text := range annotations {
		if !meta.IsInjectedItems(key) {
			continue
		}
		var items meta.InjectedItems
		if bounded.Object().DecodeJSON([]byte(text), &items) != nil || !meta.IsManager(items.Manager) || meta.AnnotationInjectedItems(items.Manager) != key {
			continue
		}
		if byManager == nil {
			byManager = map[string]meta.InjectedItems{}
		}
		byManager[items.Manager] = items
	}
	return byManager
}

// addLeftovers adds the items that an annotation lists for the manager and that are in the pod although the manager no
// longer owns them. Items that are also in the manifest of a deployment tool belong to that tool, and are skipped.
func (o *OwnedFields) addLeftovers(items *meta.InjectedItems, live map[string]any, deployers *deployed) {
	pod := tree.MapAt(live, tree.Pod...)
	for _, list := range podLists {
		for _, item := range tree.List(pod[list]) {
			name := tree.Name(item)
			listed, owned, isTheirs := items.Containers, &o.Containers, deployers.hasContainer
			switch list {
			case "volumes":
				listed, owned, isTheirs = items.Volumes, &o.Volumes, deployers.hasVolume
			case pullSecrets:
				listed, owned, isTheirs = items.PullSecrets, &o.PullSecrets, deployers.hasPullSecret
			}
			if !slices.Contains(listed, name) || slices.Contains(*owned, name) || isTheirs(name) {
				continue
			}
			*owned = append(*owned, name)
			o.Leftovers = append(o.Leftovers, name)
			o.addItem(list, item)
		}
	}
	if len(o.Leftovers) == 0 {
		return
	}
	o.addKeys("annotations", injectedAnnotationKeys(items), live, deployers)
	o.addKeys("labels", items.Labels, live, deployers)
	o.readKeys()
}

// addKeys adds the manager's keys of pod labels or annotations that a rollback has restored. Keys that a deployment
// tool owns are skipped.
func (o *OwnedFields) addKeys(mapName string, keys []string, live map[string]any, deployers *deployed) {
	path := []string{"spec", "template", "metadata", mapName}
	for _, key := range keys {
		if value, isThere := tree.MapAt(live, path...)[key]; isThere && !deployers.hasKey(mapName, key) {
			tree.EnsureMap(o.Tree, path...)[key] = value
		}
	}
}

// injectedAnnotationKeys returns the keys of a manager's annotations in a pod template: the listed annotations,
// the annotation with the list itself, and the annotation about the sidecar.
func injectedAnnotationKeys(items *meta.InjectedItems) []string {
	return append(slices.Clip(items.Annotations), meta.AnnotationInjectedItems(items.Manager), meta.AnnotationAbout(items.Manager))
}

// addItem adds an item to a list of the pod in Tree.
func (o *OwnedFields) addItem(list string, item any) {
	if o.Tree == nil {
		o.Tree = map[string]any{}
	}
	pod := tree.EnsureMap(o.Tree, tree.Pod...)
	pod[list] = append(slices.Clip(tree.List(pod[list])), item)
}
