// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/json"

	appsv1 "k8s.io/api/apps/v1"
)

// ownership is what the operator has merged into a workload. What one VectorSidecar
// has merged into a thousand of them is the same, and a few kilobytes.
type ownership struct {
	// reach is remembered for as long as an ownership refers to it.
	reach     *reach
	managers  []string
	byManager map[string]Owned
	traces    []Trace
	// print is that of managers, byManager and traces.
	print fingerprint
}

// ownershipIn returns the ownership in a Deployment. Most carry nothing of ours. What
// one VectorSidecar has merged into many is read from the first of them, and equal
// ownerships are one, by which a workload is known to look as before.
func (r *Reducer) ownershipIn(deployment *appsv1.Deployment) *ownership {
	if !isCarrier(deployment) {
		return r.nothing
	}
	records := r.prints.ofRecords(deployment)
	reach := r.reaches.of(records, func() *reach { return reachOf(deployment) })
	reached := reach.of(deployment)
	key := r.prints.ofReached(records, reached)
	if known := r.extracted.get(key); known != nil {
		return known
	}
	theirs := &deployed{entries: deployment.ManagedFields}
	fresh := &ownership{reach: reach, managers: reach.managers, byManager: reach.owned(reached, theirs)}
	fresh.traces = reach.traces(fresh.byManager)
	// Strings and JSON values, which always marshal, and in the order of their keys.
	text, _ := json.Marshal([]any{fresh.managers, fresh.byManager, fresh.traces})
	fresh.print = r.prints.digest(text)
	same := r.ownerships.of(fresh.print, func() *ownership { return fresh })
	if theirs.items != nil {
		return same // The records of others counted, too, which the key says nothing of.
	}
	return r.extracted.of(key, func() *ownership { return same })
}
