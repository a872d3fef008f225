// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Marks are annotations of a field manager of the operator that stay after the manager releases its fields,
// because it does not own them, or because other managers also own them. A manifest that was exported and
// applied again has marks, and so has a restored backup. Marks do not affect decisions.
type Marks struct {
	// Annotations are keys in the metadata of the workload. PodAnnotations are keys in the metadata of the
	// pods. Both are sorted.
	Annotations, PodAnnotations []string
	// SharedItems are containers and volumes of the manager that are also in a manifest of a deployment tool.
	// PodAnnotations describe them.
	SharedItems []string
}

// liveMarks contains all annotations of a workload that are marks of the operator, and their other owners.
type liveMarks struct {
	// managers are the field managers by key, or "" if the key does not contain a name and sidecar-name is
	// missing.
	managers, podManagers map[string]string
	// foreignKeys are the keys that other field managers own, except the operator's own field manager.
	foreignKeys, podForeignKeys mention
	// confirmed are the keys that the operator's own field manager or a user owns. deployed are the keys that a
	// deployment tool owns.
	confirmed, deployed mention
	// items are the containers and volumes in the manifests of deployment tools that have marks.
	items map[string][]string
}

// marksIn returns the marks of a workload. It reads managedFields only for a workload with marks.
func marksIn(object Object) *liveMarks {
	annotations, ofPods := object.GetAnnotations(), templateAnnotations(object)
	if !hasMarks(annotations) && !hasMarks(ofPods) {
		return &liveMarks{}
	}
	candidates := writers(object)
	marks := &liveMarks{managers: markManagers(annotations, candidates), podManagers: markManagers(ofPods, candidates)}
	entries := object.GetManagedFields()
	for i := range entries {
		marks.addOthers(&entries[i], entries)
	}
	return marks
}

func hasMarks(annotations map[string]string) bool {
	for key := range annotations {
		if meta.IsMark(key) {
			return true
		}
	}
	return false
}

// markManagers returns the field managers of the marks among annotations.
func markManagers(annotations map[string]string, candidates []string) map[string]string {
	managers, plain := map[string]string{}, ""
	if sidecar := annotations[meta.AnnotationSidecarName]; sidecar != "" {
		plain = meta.Manager(sidecar)
	}
	for key := range annotations {
		if !meta.IsMark(key) {
			continue
		}
		managers[key] = meta.ManagerOfMark(key, candidates)
		if managers[key] == "" {
			managers[key] = plain
		}
	}
	return managers
}

// addOthers adds the marks in an entry of another field manager.
func (m *liveMarks) addOthers(entry *metav1.ManagedFieldsEntry, entries []metav1.ManagedFieldsEntry) {
	if meta.IsManager(entry.Manager) || entry.Subresource != "" || entry.FieldsV1 == nil || !strings.Contains(entry.FieldsV1.GetRawString(), meta.Group+"/") {
		return
	}
	fields, _ := decodeFields(entry)
	keys := tree.MapAt(fields, "f:metadata", "f:annotations")
	if entry.Manager == meta.Operator || !isDeployer(entry) {
		m.confirmed.addFields(keys)
	} else {
		m.deployed.addFields(keys)
	}
	if entry.Manager == meta.Operator {
		return
	}
	m.foreignKeys.addFields(keys)
	m.podForeignKeys.addFields(tree.MapAt(fields, "f:spec", "f:template", "f:metadata", "f:annotations"))
	if m.items == nil {
		m.items = deployedIn(entries)
	}
}

// isCopied reports whether only a deployment tool owns an annotation that the operator or a user sets.
func (m *liveMarks) isCopied(key string) bool {
	return m.deployed.contains(key) && !m.confirmed.contains(key)
}

// appendTo appends a text of all content of the marks.
func (m *liveMarks) appendTo(text []byte) []byte {
	text = appendMap(appendMap(append(text, 'k'), m.managers), m.podManagers)
	for _, names := range []map[string]bool{m.foreignKeys.names, m.podForeignKeys.names, m.confirmed.names, m.deployed.names} {
		text = AppendTexts(append(text, 'n'), slices.Sorted(maps.Keys(names))...)
	}
	for _, list := range slices.Sorted(maps.Keys(m.items)) {
		text = AppendTexts(AppendTexts(append(text, 'i'), list), m.items[list]...)
	}
	return text
}

// addMarked adds the managers that have only marks in the workload.
func (m *ManagedFields) addMarked() {
	add := func(managers map[string]string, path ...string) {
		for key, manager := range managers {
			isOwned := false
			for _, record := range m.records {
				isOwned = isOwned || tree.MapAt(record.applied, path...)["f:"+key] != nil || tree.MapAt(record.patched, path...)["f:"+key] != nil
			}
			if manager != "" && !isOwned {
				m.Managers = append(m.Managers, manager)
			}
		}
	}
	add(m.marks.managers, "f:metadata", "f:annotations")
	add(m.marks.podManagers, "f:spec", "f:template", "f:metadata", "f:annotations")
	slices.Sort(m.Managers)
	m.Managers = slices.Compact(m.Managers)
}

// Marks returns the marks of each manager for the fields that it owns, or nil for none.
func (m *ManagedFields) Marks(owned map[string]Owned) map[string]Marks {
	byManager := map[string]Marks{}
	add := func(managers map[string]string, foreignKeys *mention, path []string, into func(*Marks) *[]string) {
		for _, key := range slices.Sorted(maps.Keys(managers)) {
			owners := findOwners(key, path, owned)
			if len(owners) > 0 && !foreignKeys.contains(key) {
				continue
			}
			if len(owners) == 0 {
				owners = m.managersForMark(managers[key])
			}
			for _, manager := range owners {
				o := owned[manager]
				if marks := byManager[manager]; !o.describes(key) {
					*into(&marks) = append(*into(&marks), key)
					byManager[manager] = marks
				}
			}
		}
	}
	add(m.marks.managers, &m.marks.foreignKeys, []string{"metadata", "annotations"}, func(marks *Marks) *[]string { return &marks.Annotations })
	add(m.marks.podManagers, &m.marks.podForeignKeys, []string{"spec", "template", "metadata", "annotations"}, func(marks *Marks) *[]string { return &marks.PodAnnotations })
	for manager, marks := range byManager {
		o, items := owned[manager], m.listed[manager]
		for _, list := range []string{"initContainers", "containers", "volumes"} {
			for _, name := range m.marks.items[list] {
				if slices.Contains(o.Containers, name) || slices.Contains(o.Volumes, name) || slices.Contains(items.Containers, name) || slices.Contains(items.Volumes, name) {
					marks.SharedItems = append(marks.SharedItems, name)
				}
			}
		}
		byManager[manager] = marks
	}
	if len(byManager) == 0 {
		return nil
	}
	return byManager
}

// managersForMark returns the manager of a mark without an owner: the manager in the mark, or the only manager in
// the workload.
func (m *ManagedFields) managersForMark(manager string) []string {
	switch {
	case manager != "":
		return []string{manager}
	case len(m.Managers) == 1:
		return m.Managers
	}
	return nil
}

// findOwners returns the managers that own an annotation.
func findOwners(key string, path []string, owned map[string]Owned) []string {
	var owners []string
	for manager, o := range owned {
		if _, isOwned := tree.MapAt(o.Tree, path...)[key]; isOwned {
			owners = append(owners, manager)
		}
	}
	return owners
}

// describes reports whether a mark that the manager does not own belongs to its fields: the record that the
// workload waits, the mark of an orphaned sidecar, and the record that the API server writes.
func (o *Owned) describes(key string) bool {
	switch {
	case meta.IsWaiting(key):
		return o.Waits
	case meta.IsOrphaned(key):
		return o.Orphan != ""
	case meta.IsInjectedEnv(key):
		return len(o.Containers) > 0
	}
	return false
}
