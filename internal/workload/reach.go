// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// reach is what of a Deployment can be our managers': what their records and their
// lists mention. It is the same in all workloads that one VectorSidecar has merged
// the same into.
type reach struct {
	managers []string
	records  map[string]*record // by manager
	listed   map[string]meta.Parts

	lists                                  map[string]*mention // by the names in podLists
	annotations, podLabels, podAnnotations mention
	// pod tells that something of the pods beside these is mentioned.
	pod bool
}

// mention is some keys of a map, or some names in a list.
type mention struct{ names map[string]bool }

func (m *mention) add(name string) {
	if m.names == nil {
		m.names = map[string]bool{}
	}
	m.names[name] = true
}

func (m *mention) has(name string) bool { return m.names[name] }

// addFields adds the keys of a map from its managed fields.
func (m *mention) addFields(fields any) {
	for field := range tree.Map(fields) {
		if name, ok := strings.CutPrefix(field, "f:"); ok {
			m.add(name)
		}
	}
}

// of returns what is mentioned of a map.
func (m *mention) of(values map[string]string) map[string]string {
	kept := map[string]string{}
	for key, value := range values {
		if m.has(key) {
			kept[key] = value
		}
	}
	return kept
}

// reachOf reads the records and lists of a Deployment.
func reachOf(deployment *appsv1.Deployment) *reach {
	r := &reach{
		managers: Managers(deployment), listed: partsIn(deployment.Spec.Template.Annotations),
		records: map[string]*record{}, lists: map[string]*mention{},
	}
	for _, list := range podLists {
		r.lists[list] = &mention{}
	}
	for i := range deployment.ManagedFields {
		entry := &deployment.ManagedFields[i]
		if !isOurs(entry) && !isPatch(entry) {
			continue
		}
		if r.records[entry.Manager] == nil {
			r.records[entry.Manager] = &record{}
		}
		r.records[entry.Manager].add(entry)
	}
	for _, record := range r.records {
		r.addFields(record.applied)
		if record.isLoose || record.applied == nil {
			r.addFields(record.patched)
		}
	}
	for _, manager := range r.managers {
		r.annotations.add(meta.AnnotationOrphaned(manager))
	}
	for manager, parts := range r.listed {
		for _, key := range partsKeys(manager) {
			r.podAnnotations.add(key)
		}
		for _, name := range slices.Concat(parts.Containers, parts.Volumes) {
			for _, list := range podLists {
				r.lists[list].add(name)
			}
		}
	}
	return r
}

func (r *reach) addFields(fields map[string]any) {
	r.annotations.addFields(tree.Map(fields["f:metadata"])["f:annotations"])
	pods := tree.At(fields, "f:spec", "f:template", "f:metadata")
	r.podLabels.addFields(pods["f:labels"])
	r.podAnnotations.addFields(pods["f:annotations"])
	for field, below := range podOf(fields) {
		list := r.lists[strings.TrimPrefix(field, "f:")]
		if list == nil {
			r.pod = true
			continue
		}
		for key := range tree.Map(below) {
			if name, ok := nameIn(key); ok {
				list.add(name)
			}
		}
	}
}

// of returns what is reached of a Deployment, in a copy of its outline.
func (r *reach) of(deployment *appsv1.Deployment) *appsv1.Deployment {
	reached, template := &appsv1.Deployment{}, &deployment.Spec.Template
	reached.Annotations = r.annotations.of(deployment.Annotations)
	reached.Spec.Template.Labels = r.podLabels.of(template.Labels)
	reached.Spec.Template.Annotations = r.podAnnotations.of(template.Annotations)
	pod := &reached.Spec.Template.Spec
	if r.pod {
		*pod = template.Spec
	}
	pod.InitContainers = containersIn(r.lists["initContainers"], template.Spec.InitContainers)
	pod.Containers = containersIn(r.lists["containers"], template.Spec.Containers)
	pod.Volumes = nil
	for i := range template.Spec.Volumes {
		if r.lists["volumes"].has(template.Spec.Volumes[i].Name) {
			pod.Volumes = append(pod.Volumes, template.Spec.Volumes[i])
		}
	}
	return reached
}

func containersIn(mentioned *mention, containers []corev1.Container) []corev1.Container {
	var kept []corev1.Container
	for i := range containers {
		if mentioned.has(containers[i].Name) {
			kept = append(kept, containers[i])
		}
	}
	return kept
}
