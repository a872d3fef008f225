// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// This file handles kinds with atomic lists. For these kinds, an annotation of the pod template that lists items
// define the operator's items. Each item belongs to the operator with all of its fields.

// sidecarAnnotationKeys returns the sorted keys of a workload's annotations that may belong to a sidecar.
func sidecarAnnotationKeys(annotations map[string]string) []string {
	var keys []string
	for key := range annotations {
		if strings.HasPrefix(key, meta.Group+"/") && key != meta.AnnotationInject {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// addRecordedAnnotations adds the annotations of the workload that may belong to a sidecar. The lists of injected
// items name all other fields.
func (m *ManagedFields) addRecordedAnnotations(object Object) {
	for _, key := range sidecarAnnotationKeys(object.GetAnnotations()) {
		m.annotations.add(key)
	}
}

// recordedItems returns the fields of each manager according to the lists of injected items. For these kinds, a
// managedFields entry exists only if the workload waits for a change or if a write was interrupted.
func (m *ManagedFields) recordedItems(selected *corev1.PodTemplate, deployers *deployed) map[string]OwnedFields {
	byManager := map[string]OwnedFields{}
	for manager, record := range readRecords(deployers.object) {
		_, waits := tree.MapAt(record.applied, "f:metadata", "f:annotations")["f:"+meta.AnnotationWaiting(manager)]
		byManager[manager] = OwnedFields{IsRecorded: true, Waits: waits, Unfinished: !waits || record.patched != nil}
	}
	for manager, items := range m.listed {
		owned := byManager[manager]
		owned.IsRecorded = true
		annotations := recordedAnnotations(manager, selected.Annotations)
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return meta.IsFailedBefore(key) && m.marks.isCopied(key) })
		body := recordedTree(annotations, listedParts(&items, &selected.Template, deployers))
		owned.Hash = Hash(body)
		owned.setTree(body, deployers)
		if key := meta.AnnotationWrittenBy(manager); owned.hasItems() && !m.marks.isCopied(key) {
			owned.WrittenBy = selected.Annotations[key]
		}
		for _, name := range items.Volumes {
			if !slices.ContainsFunc(selected.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }) {
				owned.Lost = append(owned.Lost, name)
			}
		}
		byManager[manager] = owned
	}
	return byManager
}

// recordedAnnotations returns the annotations of a workload that belong to a manager. They have the manager's
// VectorSidecar in their key. Annotations without a VectorSidecar in their key belong to the manager if
// sidecar-name names its VectorSidecar.
func recordedAnnotations(manager string, live map[string]string) map[string]any {
	sidecar, result := meta.SidecarName(manager), map[string]any{}
	isPlain := meta.Manager(live[meta.AnnotationSidecarName]) == manager
	for key, value := range live {
		plain, _, hasName := strings.Cut(strings.TrimPrefix(key, meta.Group+"/"), ".")
		switch {
		case key == meta.AnnotationInjected, !hasName && isPlain, hasName && key == meta.AnnotationKeyFor(meta.Group+"/"+plain, sidecar):
			result[key] = value
		}
	}
	delete(result, meta.AnnotationOrphaned(manager)) // The operator's own field manager owns this mark.
	delete(result, meta.AnnotationWaiting(manager))  // This record exists before the sidecar.
	return result
}

// listedParts returns the parts of a pod template that a list of injected items names, without the items of
// deployment tools.
func listedParts(items *meta.InjectedItems, template *corev1.PodTemplateSpec, deployers *deployed) *corev1.PodTemplateSpec {
	listed := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
		Labels: selectKeys(template.Labels, items.Labels), Annotations: selectKeys(template.Annotations, injectedAnnotationKeys(items)),
	}}
	isListed := func(c corev1.Container) bool {
		return slices.Contains(items.Containers, c.Name) && !deployers.hasContainer(c.Name)
	}
	listed.Spec.InitContainers = selectItems(template.Spec.InitContainers, isListed)
	listed.Spec.Containers = selectItems(template.Spec.Containers, isListed)
	listed.Spec.Volumes = selectItems(template.Spec.Volumes, func(v corev1.Volume) bool {
		return slices.Contains(items.Volumes, v.Name) && !deployers.hasVolume(v.Name)
	})
	listed.Spec.ImagePullSecrets = selectItems(template.Spec.ImagePullSecrets, func(s corev1.LocalObjectReference) bool {
		return slices.Contains(items.PullSecrets, s.Name)
	})
	return listed
}

// selectItems returns the items that a function matches, or nil for none.
func selectItems[T any](items []T, match func(T) bool) (result []T) {
	for i := range items {
		if match(items[i]) {
			result = append(result, items[i])
		}
	}
	return result
}

// selectKeys returns the entries of a map that have one of some keys, or nil for none.
func selectKeys(source map[string]string, keys []string) map[string]string {
	var result map[string]string
	for _, key := range keys {
		if value, ok := source[key]; ok {
			if result == nil {
				result = map[string]string{}
			}
			result[key] = value
		}
	}
	return result
}

// RecordedBody returns the overlay in the form that the operator writes to workloads with atomic lists:
// {metadata: {annotations}, spec: {template}}. The argument contains the annotations of the workload. The body
// already contains the API server's defaults, so that a later read returns the same value.
func (o *Overlay) RecordedBody(annotations map[string]any) map[string]any {
	return recordedTree(annotations, &o.Template)
}

// recordedTree returns the parts of a workload that a sidecar consists of, as a map: {metadata: {annotations}, spec:
// {template}}. It adds the defaults of custom resources.
func recordedTree(annotations map[string]any, template *corev1.PodTemplateSpec) map[string]any {
	body := liveTree(&corev1.PodTemplate{Template: *template})
	pod := tree.MapAt(body, tree.Pod...)
	for _, list := range []string{"initContainers", "containers"} {
		for _, item := range tree.List(pod[list]) {
			for _, kind := range kinds { // Only one kind has such defaults.
				for _, field := range kind.Defaults.Container {
					setDefault(item, field.Path, field.Value)
				}
			}
			if len(tree.MapAt(tree.Map(item), "resources")) == 0 {
				delete(tree.Map(item), "resources") // A typed container always has resources.
			}
		}
		if len(tree.List(pod[list])) == 0 {
			delete(pod, list)
		}
	}
	metadata := tree.MapAt(body, "spec", "template", "metadata")
	delete(metadata, "creationTimestamp")
	body["metadata"] = map[string]any{"annotations": annotations}
	return body
}

// setDefault sets the default of a field if the parent of the field exists and the field is missing.
func setDefault(parent any, path []string, value any) {
	if path[0] == "*" {
		for _, item := range tree.List(parent) {
			setDefault(item, path[1:], value)
		}
		return
	}
	fields := tree.Map(parent)
	switch {
	case fields == nil:
	case len(path) > 1:
		setDefault(fields[path[0]], path[1:], value)
	case fields[path[0]] == nil:
		fields[path[0]] = value
	}
}
