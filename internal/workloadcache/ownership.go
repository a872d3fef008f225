// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/json"
	"reflect"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ownership is what the operator has merged into a workload. For one VectorSidecar it
// is the same in thousands of them, and a few kilobytes.
type ownership struct {
	// fields are kept for as long as an ownership refers to them.
	fields    *workload.ManagedFields
	managers  []string
	byManager map[string]workload.Owned
	marks     map[string]workload.Marks
	traces    []workload.Trace
	// print is the fingerprint of managers, byManager, marks and traces.
	print fingerprint
}

// hasTemplateOf reports whether another ownership has the same in the pod template, whatever is noted beside
// it.
func (o *ownership) hasTemplateOf(other *ownership) bool {
	return o == other || reflect.DeepEqual(o.templates(), other.templates())
}

// templates returns what is merged into the pod template, by manager.
func (o *ownership) templates() map[string]any {
	found := map[string]any{}
	for manager := range o.byManager {
		if spec, has := o.byManager[manager].Tree["spec"]; has {
			found[manager] = spec
		}
	}
	return found
}

// owners finds ownerships, and holds equal ones once.
type owners struct {
	nothing *ownership
	fields  *interned[fingerprint, workload.ManagedFields]
	read    *interned[fingerprint, ownership] // by what they are read from
	equal   *interned[fingerprint, ownership] // by their content
	hashes  *hasher
}

func newOwners(hashes *hasher) *owners {
	return &owners{
		nothing: &ownership{}, fields: newInterned[fingerprint, workload.ManagedFields](),
		read: newInterned[fingerprint, ownership](), equal: newInterned[fingerprint, ownership](), hashes: hashes,
	}
}

// of returns the ownership in a workload. Most have nothing of ours. What one
// VectorSidecar has merged into many is parsed from the first of them. Equal ownerships
// are the same pointer, by which an unchanged workload is recognised.
func (o *owners) of(object workload.Object) *ownership {
	if !workload.IsCarrier(object) {
		return o.nothing
	}
	records := o.hashes.ofRecords(object)
	fields := o.fields.of(records, func() *workload.ManagedFields { return workload.ManagedFieldsOf(object) })
	selected := fields.Select(object)
	key := o.hashes.ofSelected(records, selected)
	if known := o.read.get(key); known != nil {
		return known
	}
	byManager, readOthers := fields.Owned(selected, object)
	fresh := &ownership{fields: fields, managers: fields.Managers, byManager: byManager, marks: fields.Marks(byManager), traces: fields.Traces(byManager)}
	// Strings and JSON values always marshal, with sorted keys.
	text, _ := json.Marshal([]any{fresh.managers, fresh.byManager, fresh.marks, fresh.traces})
	fresh.print = o.hashes.digest(text)
	same := o.equal.of(fresh.print, func() *ownership { return fresh })
	if readOthers {
		return same // The key does not cover the managed fields of others.
	}
	return o.read.of(key, func() *ownership { return same })
}
