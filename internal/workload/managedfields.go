// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// ManagedFields describes which parts of a workload may belong to the operator's managers, from managedFields and from
// the annotations that list injected items. Workloads with the same sidecar share one ManagedFields.
type ManagedFields struct {
	// Managers are the sorted names of the operator's field managers that have fields, listed items or annotations in
	// the workload.
	Managers []string

	entries map[string]entryKinds // by manager
	listed  map[string]meta.InjectedItems

	lists                                  map[string]*keySet // by the names in podLists
	annotations, podLabels, podAnnotations keySet
	// pod reports whether the managers own pod fields other than items of podLists.
	pod bool
	// isRecorded is true if annotations that list injected items, and not managedFields, determine the operator's
	// items.
	isRecorded bool
	marks      *liveMarks
}

// keySet is a set of map keys or of item names.
type keySet struct{ names map[string]bool }

func (m *keySet) add(name string) {
	if m.names == nil {
		m.names = map[string]bool{}
	}
	m.names[name] = true
}

func (m *keySet) contains(name string) bool { return m.names[name] }

// addFields adds the keys of a map that managed fields list.
func (m *keySet) addFields(fields any) {
	for field := range tree.Map(fields) {
		if name, ok := strings.CutPrefix(field, "f:"); ok {
			m.add(name)
		}
	}
}

// filter returns the entries of a map with keys in the set, without the annotations that record a wait.
func (m *keySet) filter(values map[string]string) map[string]string {
	result := map[string]string{}
	for key, value := range values {
		if m.contains(key) && !meta.IsWaiting(key) {
			result[key] = value
		}
	}
	return result
}

// ReadManagedFields reads the managedFields entries and the lists of injected items of a workload.
func ReadManagedFields(object Object) *ManagedFields {
	m := &ManagedFields{
		Managers: recordedManagers(object), listed: readInjectedItems(templateAnnotations(object)),
		entries: map[string]entryKinds{}, lists: map[string]*keySet{}, marks: readMarks(object),
	}
	for _, list := range podLists {
		m.lists[list] = &keySet{}
	}
	records := readRecords(object)
	if m.isRecorded = objectKind(object).Traits.AtomicLists; m.isRecorded {
		m.addRecordedAnnotations(object)
	}
	for manager, record := range records {
		m.entries[manager] = entryKinds{isApply: record.applied != nil, isPatch: record.isPatch}
		m.addFields(record.applied)
		if record.isLoose || record.applied == nil {
			m.addFields(record.patched)
		}
	}
	m.addMarkManagers(records)
	for _, manager := range m.Managers {
		m.annotations.add(meta.AnnotationOrphaned(manager))
	}
	for _, items := range m.listed {
		for _, key := range injectedAnnotationKeys(&items) {
			m.podAnnotations.add(key)
		}
		for _, key := range items.Labels {
			m.podLabels.add(key)
		}
		for _, name := range slices.Concat(items.Containers, items.Volumes, items.PullSecrets) {
			for _, list := range podLists {
				m.lists[list].add(name)
			}
		}
	}
	return m
}

// addFields adds the annotations, labels and list items that a managed-fields map lists.
func (m *ManagedFields) addFields(fields map[string]any) {
	m.annotations.addFields(tree.Map(fields["f:metadata"])["f:annotations"])
	pods := tree.MapAt(fields, "f:spec", "f:template", "f:metadata")
	m.podLabels.addFields(pods["f:labels"])
	m.podAnnotations.addFields(pods["f:annotations"])
	for field, children := range podFields(fields) {
		list := m.lists[strings.TrimPrefix(field, "f:")]
		if list == nil {
			m.pod = true
			continue
		}
		for key := range tree.Map(children) {
			if name, ok := itemName(key); ok {
				list.add(name)
			}
		}
	}
}

// AppendAnnotations appends a text of the annotations of a workload that the ManagedFields describe.
func (m *ManagedFields) AppendAnnotations(text []byte, object Object) []byte {
	return appendMap(text, m.annotations.filter(object.GetAnnotations()))
}

// Select returns the parts of a workload that the ManagedFields describe: annotations, and parts of the pod template.
func (m *ManagedFields) Select(object Object) *corev1.PodTemplate {
	selected, template := &corev1.PodTemplate{}, PodTemplate(object)
	selected.Annotations = m.annotations.filter(object.GetAnnotations())
	selected.Template.Labels = m.podLabels.filter(template.Labels)
	selected.Template.Annotations = m.podAnnotations.filter(template.Annotations)
	pod := &selected.Template.Spec
	if m.pod {
		*pod = template.Spec
	}
	pod.InitContainers = filterContainers(m.lists["initContainers"], template.Spec.InitContainers)
	pod.Containers = filterContainers(m.lists["containers"], template.Spec.Containers)
	pod.Volumes = nil
	for i := range template.Spec.Volumes {
		if m.lists["volumes"].contains(template.Spec.Volumes[i].Name) {
			pod.Volumes = append(pod.Volumes, template.Spec.Volumes[i])
		}
	}
	pod.ImagePullSecrets = nil
	for _, secret := range template.Spec.ImagePullSecrets {
		if m.lists[pullSecrets].contains(secret.Name) {
			pod.ImagePullSecrets = append(pod.ImagePullSecrets, secret)
		}
	}
	return selected
}

// filterContainers returns the containers with names in a set.
func filterContainers(mentioned *keySet, containers []corev1.Container) []corev1.Container {
	var result []corev1.Container
	for i := range containers {
		if mentioned.contains(containers[i].Name) {
			result = append(result, containers[i])
		}
	}
	return result
}

// IsCarrier reports whether a workload may have fields, annotations or managedFields entries of the operator's
// managers.
func IsCarrier(object Object) bool {
	entries := object.GetManagedFields()
	for i := range entries {
		if isOperatorEntry(&entries[i]) {
			return true
		}
	}
	return hasMarks(object.GetAnnotations()) || hasMarks(templateAnnotations(object))
}

// ownedByManager returns the fields of each manager in the selected parts of a workload. deployers contains the items
// of deployment tools.
func (m *ManagedFields) ownedByManager(selected *corev1.PodTemplate, deployers *deployed) map[string]OwnedFields {
	var byManager map[string]OwnedFields
	if m.isRecorded {
		byManager = m.recordedItems(selected, deployers)
	} else {
		byManager = m.appliedItems(liveTree(selected), deployers)
	}
	if len(byManager) == 0 {
		return nil
	}
	for manager, owned := range byManager {
		if key := meta.AnnotationOrphaned(manager); !m.marks.isCopied(key) {
			owned.Orphan = selected.Annotations[key]
		}
		byManager[manager] = owned
	}
	return byManager
}

// appliedItems returns the fields of each manager according to managedFields, and the listed items that a rollback has
// restored.
func (m *ManagedFields) appliedItems(live map[string]any, deployers *deployed) map[string]OwnedFields {
	byManager := map[string]OwnedFields{}
	for manager, record := range readRecords(deployers.object) {
		if record.applied != nil || record.patched != nil {
			byManager[manager] = record.ownedItems(manager, live, deployers)
		}
	}
	for manager, items := range m.listed {
		remaining := byManager[manager]
		if remaining.addLeftovers(&items, live, deployers); remaining.Tree != nil {
			byManager[manager] = remaining
		}
	}
	return byManager
}

// liveTree returns the selected parts of a workload as a map with the structure of managed fields.
func liveTree(selected *corev1.PodTemplate) map[string]any {
	template, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&selected.Template)
	if err != nil {
		// The conversion never fails for this type. An empty result would only cause one more apply.
		return map[string]any{}
	}
	return map[string]any{
		"metadata": map[string]any{"annotations": anyValues(selected.Annotations)},
		"spec":     map[string]any{"template": template},
	}
}

// anyValues returns a copy of a map with values of type any.
func anyValues(in map[string]string) map[string]any {
	result := make(map[string]any, len(in))
	for key, value := range in {
		result[key] = value
	}
	return result
}

// AppendManagedFields appends a text of all inputs of ReadManagedFields. Workloads with equal texts have equal results.
func AppendManagedFields(text []byte, object Object) []byte {
	entries := object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; isOperatorEntry(entry) {
			fields := entry.FieldsV1.GetRawBytes()
			text = appendStrings(text, entry.Manager, string(entry.Operation))
			text = append(binary.AppendUvarint(text, uint64(len(fields))), fields...)
		}
	}
	if objectKind(object).Traits.AtomicLists {
		text = appendStrings(append(text, 'r'), sidecarAnnotationKeys(object.GetAnnotations())...)
	}
	lists := map[string]string{}
	for key, value := range templateAnnotations(object) {
		if meta.IsInjectedItems(key) || meta.IsAbout(key) {
			lists[key] = value
		}
	}
	return readMarks(object).appendTo(appendMap(text, lists))
}
