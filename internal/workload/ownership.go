// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"
)

// Ownership contains the fields and the marks of the operator's field managers in a workload. Workloads with the same
// sidecar have equal Ownerships of a few kilobytes, which can be shared.
type Ownership struct {
	// Managers are the sorted names of the managers that have fields, listed items or marks in the workload.
	Managers []string
	// Owned and Marks have the same meaning as in View.
	Owned map[string]OwnedFields
	Marks map[string]Marks
	// Traces has one Trace for each of the Managers.
	Traces []Trace
	// containers are the containers with fields of the managers. Views of all workloads with this Ownership share their
	// memory.
	containers []Container
}

// ReadOwnership returns the Ownership of a workload. For most workloads, it is empty, and the call takes almost
// no time.
func ReadOwnership(object Object) *Ownership {
	if !IsCarrier(object) {
		return &Ownership{}
	}
	fields := ReadManagedFields(object)
	ownership, _ := fields.Ownership(fields.Select(object), object)
	return ownership
}

// Ownership returns which fields and items of a workload the operator's field managers own. selected is the result of
// Select. readsDeployers reports whether the result also depends on the managedFields entries of deployment tools, which
// ownedByManager reads from the object if needed.
func (m *ManagedFields) Ownership(selected *corev1.PodTemplate, object Object) (ownership *Ownership, readsDeployers bool) {
	deployers := &deployed{object: object}
	owned := m.ownedByManager(selected, deployers)
	marks := m.marksFor(owned)
	return &Ownership{
		Managers: m.Managers, Owned: owned, Marks: marks, Traces: m.managerTraces(owned, marks),
		containers: viewContainers(&selected.Template.Spec, nil),
	}, deployers.items != nil
}
