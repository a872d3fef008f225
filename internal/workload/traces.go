// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

// Trace is what one of the operator's field managers has left in a workload.
type Trace struct {
	Manager string
	// Applied reports whether managedFields have an apply of the manager, which makes
	// it an owner. Listed reports whether the pod template lists items of it, and
	// Patched whether managedFields have a patch of it; neither makes it an owner.
	Applied, Listed, Patched bool
	// Marked reports whether the workload has Marks of the manager.
	Marked bool
	// WrittenBy and Orphan are the marks, as in Owned.
	WrittenBy, Orphan string
}

// TracesOf returns the traces in a workload, by manager.
func TracesOf(object Object) []Trace {
	if !IsCarrier(object) {
		return nil
	}
	fields := ManagedFieldsOf(object)
	owned, _ := fields.Owned(fields.Select(object), object)
	return fields.Traces(owned)
}

// Traces returns the traces of each manager, given what it owns.
func (m *ManagedFields) Traces(owned map[string]Owned) []Trace {
	var found []Trace
	marks := m.Marks(owned)
	for _, manager := range m.Managers {
		of := owned[manager]
		trace := Trace{Manager: manager, WrittenBy: of.WrittenBy, Orphan: of.Orphan}
		if record := m.records[manager]; record != nil {
			trace.Applied, trace.Patched = record.applied != nil, record.isPatch
		}
		_, trace.Listed = m.listed[manager]
		_, trace.Marked = marks[manager]
		trace.Applied = trace.Applied || m.isRecorded && trace.Listed
		found = append(found, trace)
	}
	return found
}
