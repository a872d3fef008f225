// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"bytes"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// Marks are annotations of one of the operator's field managers that stay when the manager releases its fields, because
// the manager does not own them alone. They exist after a manifest was exported and applied again, and in a restored
// backup. They do not affect decisions.
type Marks struct {
	// Annotations are the sorted keys in the metadata of the workload. PodAnnotations are the sorted keys in
	// the metadata of the pod template.
	Annotations, PodAnnotations []string
	// SharedItems are the containers and volumes in the annotations' lists that are also in a manifest of a deployment
	// tool.
	SharedItems []string
}

// liveMarks contains the operator's annotations in a workload that may be Marks, and the field managers that own them.
type liveMarks struct {
	// managers contains the manager of each annotation by key. The value is "" if neither the key nor the annotation
	// sidecar-name names a VectorSidecar.
	managers, podManagers map[string]string
	// foreignKeys are the keys that other field managers than the operator's own.
	foreignKeys, podForeignKeys keySet
	// confirmed are the keys that a user or the operator owns, and deployed the keys that a deployment tool owns.
	confirmed, deployed keySet
	// items are the containers and volumes in the manifests of deployment tools. They are read only if such a
	// manifest has marks.
	items map[string][]string
}

// readMarks returns the operator's annotations in a workload and their owners. It parses managedFields only if there
// are such annotations.
func readMarks(object Object) *liveMarks {
	annotations, ofPods := object.GetAnnotations(), templateAnnotations(object)
	if !hasMarks(annotations) && !hasMarks(ofPods) {
		return &liveMarks{}
	}
	candidates := recordedManagers(object)
	marks := &liveMarks{managers: markManagers(annotations, candidates), podManagers: markManagers(ofPods, candidates)}
	entries := object.GetManagedFields()
	for i := range entries {
		marks.addForeignEntry(&entries[i], entries)
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

// markManagers returns the manager of each of the operator's annotations, by key.
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

// addForeignEntry adds the keys that a managedFields entry of another field manager owns.
func (m *liveMarks) addForeignEntry(entry *metav1.ManagedFieldsEntry, entries []metav1.ManagedFieldsEntry) {
	if meta.IsManager(entry.Manager) || entry.Subresource != "" || entry.FieldsV1 == nil || !bytes.Contains(entry.FieldsV1.GetRawBytes(), []byte(meta.Group+"/")) {
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
		m.items = deployedItems(entries)
	}
}

// isCopied reports whether a deployment tool has copied an annotation: it owns the annotation, and neither the operator
// nor a user does.
func (m *liveMarks) isCopied(key string) bool {
	return m.deployed.contains(key) && !m.confirmed.contains(key)
}

// appendTo appends a text of the marks. Different marks result in different texts.
func (m *liveMarks) appendTo(text []byte) []byte {
	text = appendMap(appendMap(append(text, 'k'), m.managers), m.podManagers)
	for _, names := range []map[string]bool{m.foreignKeys.names, m.podForeignKeys.names, m.confirmed.names, m.deployed.names} {
		text = appendStrings(append(text, 'n'), slices.Sorted(maps.Keys(names))...)
	}
	for _, list := range slices.Sorted(maps.Keys(m.items)) {
		text = appendStrings(appendStrings(append(text, 'i'), list), m.items[list]...)
	}
	return text
}

// addMarkManagers adds the managers of annotations that none of the operator's managers owns.
func (m *ManagedFields) addMarkManagers(records map[string]*record) {
	add := func(managers map[string]string, path ...string) {
		for key, manager := range managers {
			isOwned := false
			for _, record := range records {
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

// marksFor returns the marks of each manager, or nil for none. owned contains the fields that each manager owns.
func (m *ManagedFields) marksFor(owned map[string]OwnedFields) map[string]Marks {
	byManager := map[string]Marks{}
	add := func(managers map[string]string, foreignKeys *keySet, path []string, into func(*Marks) *[]string) {
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
				if marks := byManager[manager]; !o.describesSidecar(key) {
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

// managersForMark returns the manager of a mark without an owner: the manager that the mark names, or else the
// only manager in the workload.
func (m *ManagedFields) managersForMark(manager string) []string {
	switch {
	case manager != "":
		return []string{manager}
	case len(m.Managers) == 1:
		return m.Managers
	}
	return nil
}

// findOwners returns the operator's managers that own an annotation.
func findOwners(key string, path []string, owned map[string]OwnedFields) []string {
	var owners []string
	for manager, o := range owned {
		if _, isOwned := tree.MapAt(o.Tree, path...)[key]; isOwned {
			owners = append(owners, manager)
		}
	}
	return owners
}

// describesSidecar reports whether an annotation belongs to the sidecar although another manager of the operator owns
// it: the record of a wait, the mark of an orphaned sidecar, or the record of injected environment variables.
func (o *OwnedFields) describesSidecar(key string) bool {
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
