// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

// Trace summarizes the fields and marks that one of the operator's field managers has in a workload.
type Trace struct {
	Manager string
	// Applied reports whether managedFields have an apply entry of the manager, which makes it an owner of fields.
	// Listed reports whether an annotation of the pod template lists items of the manager. Patched reports whether
	// managedFields have a patch entry of the manager.
	Applied, Listed, Patched bool
	// Marked reports whether the workload has Marks of the manager.
	Marked bool
	// WrittenBy and Orphan have the same meaning as in OwnedFields.
	WrittenBy, Orphan string
}

// managerTraces returns the Trace of each manager. owned and marks contain the fields and the marks of each manager.
func (m *ManagedFields) managerTraces(owned map[string]OwnedFields, marks map[string]Marks) []Trace {
	var traces []Trace
	for _, manager := range m.Managers {
		o := owned[manager]
		trace := Trace{Manager: manager, WrittenBy: o.WrittenBy, Orphan: o.Orphan}
		trace.Applied, trace.Patched = m.entries[manager].isApply, m.entries[manager].isPatch
		_, trace.Listed = m.listed[manager]
		_, trace.Marked = marks[manager]
		trace.Applied = trace.Applied || m.isRecorded && trace.Listed
		traces = append(traces, trace)
	}
	return traces
}
