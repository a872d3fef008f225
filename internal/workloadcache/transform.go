// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/binary"

	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// reducer makes Records. What several of them have in common, such as what one
// VectorSidecar has merged into many workloads, is held once. It may be used by
// several goroutines at once. Make one with newReducer.
type reducer struct {
	// before returns an earlier record of a workload, if there is one: what has not
	// changed since is that one's. It may be nil.
	before func(namespace, name string) *Record

	owners *owners
	bodies *shared[fingerprint, body] // by what they are
	prints *printer
}

// newReducer returns a reducer.
func newReducer() *reducer {
	prints := newPrinter()
	return &reducer{owners: newOwners(prints), bodies: newShared[fingerprint, body](), prints: prints}
}

// reduce returns the record of a Deployment, which is not changed.
func (r *reducer) reduce(deployment *appsv1.Deployment) *Record {
	record := &Record{
		Namespace: one(deployment.Namespace),
		Name:      deployment.Name,
		UID:       deployment.UID,
		State:     workload.StateOf(deployment),
		deleting:  deployment.DeletionTimestamp != nil,
		print:     r.prints.of(deployment),
	}
	if r.before != nil {
		if before := r.before(record.Namespace, record.Name); before != nil && before.print == record.print {
			record.body, record.overrides = before.body, before.overrides
			return record
		}
	}
	record.body, record.overrides = r.bodyOf(deployment), len(workload.Overrides(deployment.Annotations)) > 0
	return record
}

func (r *reducer) bodyOf(deployment *appsv1.Deployment) *body {
	owned := r.owners.of(deployment)
	outline := workload.Outline(deployment, owned.byManager)
	eachName(outline, func(text string) string { return withoutName(text, deployment.Name) })
	packed, err := outline.Marshal()
	if err != nil {
		packed = nil // Every value of the type marshals.
	}
	fresh := body{
		labels: labelsOf(deployment.Name, deployment.Labels), lastWriter: one(workload.LastWriter(deployment.ManagedFields)),
		owned: owned, packed: packed,
	}
	return r.bodies.of(r.printOf(&fresh), func() *body { return &fresh })
}

// printOf takes the fingerprint of all that is in a body.
func (r *reducer) printOf(of *body) fingerprint {
	page, _ := r.prints.pages.Get().(*page)
	defer r.prints.pages.Put(page)
	text := binary.AppendUvarint(page.text[:0], uint64(len(of.labels)))
	for _, label := range of.labels {
		text = workload.AppendTexts(text, label.key, label.value)
	}
	text = workload.AppendTexts(text, of.lastWriter)
	for _, part := range of.owned.print {
		text = binary.LittleEndian.AppendUint64(text, part)
	}
	text = append(text, of.packed...)
	page.text = text
	return r.prints.digest(text)
}
