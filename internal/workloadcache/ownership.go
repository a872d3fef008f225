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
	none *ownership
	// fields contains the managed fields by their text, and byContent each Ownership by the managed fields and the
	// parts of the workload that they select.
	fields    *interned[digest, workload.ManagedFields]
	byContent *interned[digest, ownership]
}

// ownership is an Ownership and the managed fields that it was read from, which must be interned as long.
type ownership struct {
	workload.Ownership

	fields *workload.ManagedFields
	// metadata identifies the metadata of the workload that the Ownership was read from, or is zero if the Ownership
	// also depends on other metadata.
	metadata digest
	// excess is the size in bytes of fields that were too large for the cache, or 0 if none were.
	excess int
}

// newOwnerships returns ownerships without entries.
func newOwnerships() *ownerships {
	return &ownerships{
		none: &ownership{}, fields: newInterned[digest, workload.ManagedFields](), byContent: newInterned[digest, ownership](),
	}
}

// get returns the Ownership of a workload, which is empty for most workloads. previous is an earlier record of the
// workload, or nil.
func (o *ownerships) get(object workload.Object, previous *Record) *ownership {
	if !workload.IsCarrier(object) {
		return o.none
	}
	var space [8 << 10]byte // This is usually enough and avoids an allocation.
	text := workload.AppendManagedFields(space[:0], object)
	key := sha256.Sum256(text)
	fields := o.fields.getOrCreate(key, func() *workload.ManagedFields { return workload.ReadManagedFields(object) })
	metadata := sha256.Sum256(fields.AppendAnnotations(key[:], object))
	if previous != nil && previous.hasSameSpec(object) && previous.ownership.metadata == metadata {
		return previous.ownership
	}
	selected := fields.Select(object)
	content, _ := selected.Marshal() // Every value of the type marshals.
	key = sha256.Sum256(append(metadata[:], content...))
	if shared := o.byContent.get(key); shared != nil {
		return shared
	}
	complete, readsDeployers := fields.Ownership(selected, object)
	fresh := limitOwnership(complete)
	if fresh.excess > 0 || readsDeployers {
		return fresh // The key does not cover the fields of deployment tools.
	}
	fresh.fields, fresh.metadata = fields, metadata
	return o.byContent.getOrCreate(key, func() *ownership { return fresh })
}

const (
	// largestOwnership is the maximum size of an Ownership in a record, in bytes. Any client may write fields with the
	// name of one of the operator's managers.
	largestOwnership = 128 << 10
	// mostManagers is the maximum number of managers in an Ownership that is too large.
	mostManagers = 32
)

// limitOwnership returns an Ownership for a record. If it is larger than largestOwnership, it has no fields.
func limitOwnership(complete *workload.Ownership) *ownership {
	size := bounded.Footprint(*complete)
	if size <= largestOwnership {
		return &ownership{Ownership: *complete}
	}
	limited := &ownership{Ownership: workload.Ownership{Owned: map[string]workload.OwnedFields{}}, excess: size}
	for _, manager := range complete.Managers[:min(len(complete.Managers), mostManagers)] {
		limited.Managers = append(limited.Managers, manager)
		limited.Owned[manager] = workload.OwnedFields{}
	}
	return limited
}
