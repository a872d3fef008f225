// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	corev1 "k8s.io/api/core/v1"
)

// Ownership contains the fields and the marks of the operator's field managers in a workload. It is equal for
// all workloads with the same sidecar, and has a few kilobytes.
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

// Ownership returns the Ownership of a workload from the selected parts of the workload. It also reports whether
// the result depends on the fields of deployment tools, which m and the selected parts do not contain.
func (m *ManagedFields) Ownership(selected *corev1.PodTemplate, object Object) (ownership *Ownership, readsDeployers bool) {
	deployers := &deployed{object: object}
	owned := m.ownedByManager(selected, deployers)
	marks := m.marksFor(owned)
	return &Ownership{
		Managers: m.Managers, Owned: owned, Marks: marks, Traces: m.managerTraces(owned, marks),
		containers: viewContainers(&selected.Template.Spec, nil),
	}, deployers.items != nil
}
