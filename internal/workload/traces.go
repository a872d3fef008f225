// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

// Trace is what tells of one of the operator's field managers in a workload.
type Trace struct {
	Manager string
	// Applied says that the manager is on record for an apply: what it owns is its
	// own. Listed says that the pod template lists items of it, and Patched that it
	// is on record for a patch; neither gives it anything.
	Applied, Listed, Patched bool
	// WrittenBy and Orphan are the marks, as in Owned.
	WrittenBy, Orphan string
}

// TracesOf returns the traces in a workload, by manager.
func TracesOf(object Object) []Trace {
	if !IsCarrier(object) {
		return nil
	}
	fields := ManagedFieldsOf(object)
	owned, _ := fields.Owned(fields.Select(object), object.GetManagedFields())
	return fields.Traces(owned)
}

// Traces returns what tells of each manager, given what it owns.
func (m *ManagedFields) Traces(owned map[string]Owned) []Trace {
	var found []Trace
	for _, manager := range m.Managers {
		trace := Trace{Manager: manager, WrittenBy: owned[manager].WrittenBy, Orphan: owned[manager].Orphan}
		if record := m.records[manager]; record != nil {
			trace.Applied, trace.Patched = record.applied != nil, record.isPatch
		}
		_, trace.Listed = m.listed[manager]
		found = append(found, trace)
	}
	return found
}
