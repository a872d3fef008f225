// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ownership is what the operator has merged into a workload. What one VectorSidecar
// has merged into a thousand of them is the same, and a few kilobytes.
type ownership struct {
	// fields are remembered for as long as an ownership refers to them.
	fields    *workload.ManagedFields
	managers  []string
	byManager map[string]workload.Owned
	traces    []workload.Trace
	// print is that of managers, byManager and traces.
	print fingerprint
}

// owners finds ownerships, and holds equal ones once.
type owners struct {
	nothing *ownership
	fields  *shared[fingerprint, workload.ManagedFields]
	read    *shared[fingerprint, ownership] // by what they are read from
	equal   *shared[fingerprint, ownership] // by what they are
	prints  *printer
}

func newOwners(prints *printer) *owners {
	return &owners{
		nothing: &ownership{}, fields: newShared[fingerprint, workload.ManagedFields](),
		read: newShared[fingerprint, ownership](), equal: newShared[fingerprint, ownership](), prints: prints,
	}
}

// of returns the ownership in a Deployment. Most carry nothing of ours. What one
// VectorSidecar has merged into many is read from the first of them, and equal ownerships
// are one, by which a workload is known to look as before.
func (o *owners) of(deployment *appsv1.Deployment) *ownership {
	if !workload.IsCarrier(deployment) {
		return o.nothing
	}
	records := o.prints.ofRecords(deployment)
	fields := o.fields.of(records, func() *workload.ManagedFields { return workload.ManagedFieldsOf(deployment) })
	selected := fields.Select(deployment)
	key := o.prints.ofSelected(records, selected)
	if known := o.read.get(key); known != nil {
		return known
	}
	byManager, readOthers := fields.Owned(selected, deployment.ManagedFields)
	fresh := &ownership{fields: fields, managers: fields.Managers, byManager: byManager, traces: fields.Traces(byManager)}
	// Strings and JSON values, which always marshal, and in the order of their keys.
	text, _ := json.Marshal([]any{fresh.managers, fresh.byManager, fresh.traces})
	fresh.print = o.prints.digest(text)
	same := o.equal.of(fresh.print, func() *ownership { return fresh })
	if readOthers {
		return same // The key says nothing of the records of others.
	}
	return o.read.of(key, func() *ownership { return same })
}
