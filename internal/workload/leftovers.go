// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Managers returns the operator's field managers that have fields or copied marks in a workload.
func Managers(object Object) []string {
	if !IsCarrier(object) {
		return nil
	}
	return ManagedFieldsOf(object).Managers
}

// writers returns the operator's field managers in managedFields and in the lists of the pod template.
func writers(object Object) []string {
	var found []string
	entries := object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; isOurs(entry) {
			found = append(found, entry.Manager)
		}
	}
	for manager := range partsIn(templateAnnotations(object)) {
		found = append(found, manager)
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// partsIn reads the annotations that list the items that managers have merged into a pod template. It ignores
// malformed annotations, and annotations with the key of another manager.
func partsIn(annotations map[string]string) map[string]meta.InjectedItems {
	var all map[string]meta.InjectedItems
	for key, text := range annotations {
		if !meta.IsInjectedItems(key) {
			continue
		}
		var parts meta.InjectedItems
		if bounded.Object().DecodeJSON([]byte(text), &parts) != nil || !meta.IsManager(parts.Manager) || meta.AnnotationInjectedItems(parts.Manager) != key {
			continue
		}
		if all == nil {
			all = map[string]meta.InjectedItems{}
		}
		all[parts.Manager] = parts
	}
	return all
}

// addLeftovers adds listed items that are in the pod, although the manager does not own them anymore. Items in
// a manifest of a deployment tool stay with that tool.
func (o *Owned) addLeftovers(parts *meta.InjectedItems, live map[string]any, theirs *deployed) {
	pod := tree.MapAt(live, tree.Pod...)
	for _, list := range podLists {
		for _, item := range tree.List(pod[list]) {
			name := tree.Name(item)
			listed, owned, isTheirs := parts.Containers, &o.Containers, theirs.container
			switch list {
			case "volumes":
				listed, owned, isTheirs = parts.Volumes, &o.Volumes, theirs.volume
			case pullSecrets:
				listed, owned, isTheirs = parts.PullSecrets, &o.PullSecrets, theirs.pullSecret
			}
			if !slices.Contains(listed, name) || slices.Contains(*owned, name) || isTheirs(name) {
				continue
			}
			*owned = append(*owned, name)
			o.Leftovers = append(o.Leftovers, name)
			o.add(list, item)
		}
	}
	if len(o.Leftovers) == 0 {
		return
	}
	o.addKeys("annotations", partsKeys(parts), live, theirs)
	o.addKeys("labels", parts.Labels, live, theirs)
	o.readKeys()
}

// addKeys adds keys of a map in the pods' metadata that a rollback has restored.
func (o *Owned) addKeys(of string, keys []string, live map[string]any, theirs *deployed) {
	path := []string{"spec", "template", "metadata", of}
	for _, key := range keys {
		if value, isThere := tree.MapAt(live, path...)[key]; isThere && !theirs.key(of, key) {
			tree.EnsureMap(o.Tree, path...)[key] = value
		}
	}
}

// partsKeys returns the manager's annotations of a pod template that a rollback restores: the listed
// annotations, and the list.
func partsKeys(parts *meta.InjectedItems) []string {
	return append(slices.Clip(parts.Annotations), meta.AnnotationInjectedItems(parts.Manager))
}

// add adds an item to a list of the pod in the tree.
func (o *Owned) add(list string, item any) {
	if o.Tree == nil {
		o.Tree = map[string]any{}
	}
	pod := tree.EnsureMap(o.Tree, tree.Pod...)
	pod[list] = append(slices.Clip(tree.List(pod[list])), item)
}
