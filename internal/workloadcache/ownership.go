// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/json"
	"reflect"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ownership contains the fields that the operator has merged into a workload. For one VectorSidecar, it is the
// same in thousands of workloads, and has a few kilobytes.
type ownership struct {
	// fields are the managed fields. They are kept while an ownership refers to them.
	fields    *workload.ManagedFields
	managers  []string
	byManager map[string]workload.Owned
	marks     map[string]workload.Marks
	traces    []workload.Trace
	// print is the fingerprint of managers, byManager, marks and traces.
	print fingerprint
}

// hasSameTemplate reports whether another ownership has the same fields in the pod template. The workload's
// annotations may differ.
func (o *ownership) hasSameTemplate(other *ownership) bool {
	return o == other || reflect.DeepEqual(o.templates(), other.templates())
}

// templates returns the fields that are merged into the pod template, by manager.
func (o *ownership) templates() map[string]any {
	specs := map[string]any{}
	for manager := range o.byManager {
		if spec, ok := o.byManager[manager].Tree["spec"]; ok {
			specs[manager] = spec
		}
	}
	return specs
}

// owners finds ownerships, and stores equal ownerships once.
type owners struct {
	nothing *ownership
	fields  *interned[fingerprint, workload.ManagedFields]
	read    *interned[fingerprint, ownership] // by their input
	equal   *interned[fingerprint, ownership] // by their content
	hashes  *hasher
}

func newOwners(hashes *hasher) *owners {
	return &owners{
		nothing: &ownership{}, fields: newInterned[fingerprint, workload.ManagedFields](),
		read: newInterned[fingerprint, ownership](), equal: newInterned[fingerprint, ownership](), hashes: hashes,
	}
}

// ownershipFor returns the ownership of a workload, which is empty for most workloads. If a VectorSidecar has merged the
// same fields into many workloads, only the first workload is parsed. Equal ownerships are the same pointer,
// which identifies an unchanged workload.
func (o *owners) ownershipFor(object workload.Object) *ownership {
	if !workload.IsCarrier(object) {
		return o.nothing
	}
	records := o.hashes.hashRecords(object)
	fields := o.fields.getOrCreate(records, func() *workload.ManagedFields { return workload.ReadManagedFields(object) })
	selected := fields.Select(object)
	key := o.hashes.hashSelected(records, selected)
	if cached := o.read.get(key); cached != nil {
		return cached
	}
	byManager, readOthers := fields.OwnedItems(selected, object)
	fresh := &ownership{fields: fields, managers: fields.Managers, byManager: byManager, marks: fields.Marks(byManager), traces: fields.Traces(byManager)}
	// Strings and JSON values always marshal, with sorted keys.
	text, _ := json.Marshal([]any{fresh.managers, fresh.byManager, fresh.marks, fresh.traces})
	fresh.print = o.hashes.digest(text)
	shared := o.equal.getOrCreate(fresh.print, func() *ownership { return fresh })
	if readOthers {
		return shared // The key does not cover the managed fields of other managers.
	}
	return o.read.getOrCreate(key, func() *ownership { return shared })
}
