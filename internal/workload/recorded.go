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

// This file handles kinds with atomic lists. The lists of items in the pod template define the items of the
// operator, each with all of its fields.

// ourAnnotations returns the sorted keys of a workload's annotations that may belong to a sidecar.
func ourAnnotations(of map[string]string) []string {
	var keys []string
	for key := range of {
		if strings.HasPrefix(key, meta.Group+"/") && key != meta.AnnotationInject {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// mentionRecorded adds the annotations of the workload. The lists of items name all other fields.
func (m *ManagedFields) mentionRecorded(object Object) {
	for _, key := range ourAnnotations(object.GetAnnotations()) {
		m.annotations.add(key)
	}
}

// recorded returns the fields of each manager according to the lists of items. A managedFields entry is a
// record that the workload waits, or remains from an interrupted write.
func (m *ManagedFields) recorded(selected *corev1.PodTemplate, theirs *deployed) map[string]Owned {
	all := map[string]Owned{}
	for manager, record := range m.records {
		_, waits := tree.MapAt(record.applied, "f:metadata", "f:annotations")["f:"+meta.AnnotationWaiting(manager)]
		all[manager] = Owned{IsRecorded: true, Waits: waits, Unfinished: !waits || record.patched != nil}
	}
	for manager, parts := range m.listed {
		of := all[manager]
		of.IsRecorded = true
		annotations := recordedAnnotations(manager, selected.Annotations)
		maps.DeleteFunc(annotations, func(key string, _ any) bool { return meta.IsFailedBefore(key) && m.marks.isCopied(key) })
		whole := recordedTree(annotations, listedIn(&parts, &selected.Template, theirs))
		of.Hash = Hash(whole)
		of.read(whole, theirs)
		if key := meta.AnnotationWrittenBy(manager); of.hasItems() && !m.marks.isCopied(key) {
			of.WrittenBy = selected.Annotations[key]
		}
		for _, name := range parts.Volumes {
			if !slices.ContainsFunc(selected.Template.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == name }) {
				of.Lost = append(of.Lost, name)
			}
		}
		all[manager] = of
	}
	return all
}

// recordedAnnotations returns the annotations of a workload that belong to a manager: annotations with its
// VectorSidecar in the key, and the plain annotations if they concern it.
func recordedAnnotations(manager string, live map[string]string) map[string]any {
	sidecar, own := meta.SidecarName(manager), map[string]any{}
	isPlain := meta.Manager(live[meta.AnnotationSidecarName]) == manager
	for key, value := range live {
		plain, _, hasName := strings.Cut(strings.TrimPrefix(key, meta.Group+"/"), ".")
		switch {
		case key == meta.AnnotationInjected, !hasName && isPlain, hasName && key == meta.AnnotationKeyFor(meta.Group+"/"+plain, sidecar):
			own[key] = value
		}
	}
	delete(own, meta.AnnotationOrphaned(manager)) // The operator's own field manager owns this mark.
	delete(own, meta.AnnotationWaiting(manager))  // This record exists before the sidecar.
	return own
}

// listedIn returns the parts of a pod template that a list of items names, without the items of deployment
// tools.
func listedIn(parts *meta.InjectedItems, of *corev1.PodTemplateSpec, theirs *deployed) *corev1.PodTemplateSpec {
	listed := &corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{
		Labels: some(of.Labels, parts.Labels), Annotations: some(of.Annotations, partsKeys(parts)),
	}}
	isListed := func(c corev1.Container) bool {
		return slices.Contains(parts.Containers, c.Name) && !theirs.container(c.Name)
	}
	listed.Spec.InitContainers = filtered(of.Spec.InitContainers, isListed)
	listed.Spec.Containers = filtered(of.Spec.Containers, isListed)
	listed.Spec.Volumes = filtered(of.Spec.Volumes, func(v corev1.Volume) bool { return slices.Contains(parts.Volumes, v.Name) && !theirs.volume(v.Name) })
	listed.Spec.ImagePullSecrets = filtered(of.Spec.ImagePullSecrets, func(s corev1.LocalObjectReference) bool {
		return slices.Contains(parts.PullSecrets, s.Name)
	})
	return listed
}

func filtered[T any](of []T, is func(T) bool) (kept []T) {
	for i := range of {
		if is(of[i]) {
			kept = append(kept, of[i])
		}
	}
	return kept
}

// some returns the entries of a map with some keys, or nil for none.
func some(of map[string]string, keys []string) map[string]string {
	var kept map[string]string
	for _, key := range keys {
		if value, is := of[key]; is {
			if kept == nil {
				kept = map[string]string{}
			}
			kept[key] = value
		}
	}
	return kept
}

// Recorded returns the overlay as it is written to workloads with atomic lists, with annotations of the
// workload: {metadata: {annotations}, spec: {template}}. It already contains the defaults of the API server, so
// that a read returns the written value.
func (o *Overlay) Recorded(annotations map[string]any) map[string]any {
	return recordedTree(annotations, &o.Template)
}

func recordedTree(annotations map[string]any, template *corev1.PodTemplateSpec) map[string]any {
	whole := liveTree(&corev1.PodTemplate{Template: *template})
	pod := tree.MapAt(whole, tree.Pod...)
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
	metadata := tree.MapAt(whole, "spec", "template", "metadata")
	delete(metadata, "creationTimestamp")
	whole["metadata"] = map[string]any{"annotations": annotations}
	return whole
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
