// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"crypto/sha256"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// digest identifies a content.
type digest = [sha256.Size]byte

// ownerships contains the Ownership of workloads by its content, so that workloads with the same sidecar share one.
// Only the first of these workloads is parsed.
type ownerships struct {
	none *workload.Ownership
	// fields contains the managed fields by their text, and byContent each Ownership by the managed fields and the
	// parts of the workload that they select.
	fields    *interned[digest, workload.ManagedFields]
	byContent *interned[digest, ownership]
}

// ownership is an Ownership and the managed fields that it was read from, which must be interned as long.
type ownership struct {
	workload.Ownership

	fields *workload.ManagedFields
}

// newOwnerships returns ownerships without entries.
func newOwnerships() *ownerships {
	return &ownerships{
		none: &workload.Ownership{}, fields: newInterned[digest, workload.ManagedFields](), byContent: newInterned[digest, ownership](),
	}
}

// get returns the Ownership of a workload, which is empty for most workloads. It also returns the size of one that is
// too large for the cache, otherwise 0.
func (o *ownerships) get(object workload.Object) (found *workload.Ownership, excess int) {
	if !workload.IsCarrier(object) {
		return o.none, 0
	}
	text := workload.AppendManagedFields(nil, object)
	fields := o.fields.getOrCreate(sha256.Sum256(text), func() *workload.ManagedFields { return workload.ReadManagedFields(object) })
	selected := fields.Select(object)
	content, _ := selected.Marshal() // Every value of the type marshals.
	key := sha256.Sum256(append(text, content...))
	if shared := o.byContent.get(key); shared != nil {
		return &shared.Ownership, 0
	}
	fresh, readsDeployers := fields.Ownership(selected, object)
	if limited, excess := limitOwnership(fresh); excess > 0 || readsDeployers {
		return limited, excess // The key does not cover the fields of deployment tools.
	}
	return &o.byContent.getOrCreate(key, func() *ownership { return &ownership{Ownership: *fresh, fields: fields} }).Ownership, 0
}

const (
	// largestOwnership is the maximum size of an Ownership in a record, in bytes. Any client may write fields with the
	// name of one of the operator's managers.
	largestOwnership = 128 << 10
	// mostManagers is the maximum number of managers in an Ownership that is too large.
	mostManagers = 32
)

// limitOwnership returns an Ownership without fields and its size if it is larger than largestOwnership. Otherwise, it
// returns the Ownership unchanged and 0.
func limitOwnership(complete *workload.Ownership) (limited *workload.Ownership, excess int) {
	size := bounded.Footprint(*complete)
	if size <= largestOwnership {
		return complete, 0
	}
	limited = &workload.Ownership{Owned: map[string]workload.OwnedFields{}}
	for _, manager := range complete.Managers[:min(len(complete.Managers), mostManagers)] {
		limited.Managers = append(limited.Managers, manager)
		limited.Owned[manager] = workload.OwnedFields{}
	}
	return limited, size
}
