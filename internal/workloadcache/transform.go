// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/binary"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// reducer makes Records. It stores shared parts once, such as the fields that one VectorSidecar has merged into
// many workloads. It is safe for concurrent use. Use newReducer to make one.
type reducer struct {
	// before returns an earlier record of a workload, or nil, to reuse its unchanged parts. It may be nil.
	before func(kind, namespace, name string) *Record

	owners *owners
	bodies *interned[fingerprint, body] // by content
	hashes *hasher
	// hasShapes reports whether records include the shape of their pods.
	hasShapes bool
}

// newReducer returns a reducer.
func newReducer() *reducer {
	hashes := newHasher()
	return &reducer{owners: newOwners(hashes), bodies: newInterned[fingerprint, body](), hashes: hashes}
}

// reduce returns the record of a workload, without changing the workload. It returns nil for other objects.
func (r *reducer) reduce(object workload.Object) *Record {
	content, isOne := workload.Read(object)
	if !isOne {
		return nil
	}
	state := workload.ReadState(object)
	record := &Record{
		Namespace: one(object.GetNamespace()),
		Name:      object.GetName(),
		UID:       object.GetUID(),
		state:     packed(&state),
		deleting:  object.GetDeletionTimestamp() != nil,
		paused:    content.Paused,
		reference: content.Refers,
		history:   content.History,
		print:     r.hashes.of(object, &content),
	}
	if r.before != nil {
		before := r.before(content.Kind.Kind, record.Namespace, record.Name)
		if before != nil && before.print == record.print {
			record.body, record.overrides, record.state.template = before.body, before.overrides, before.state.template
			return r.shape(record, object)
		}
	}
	record.body, record.overrides = r.bodyOf(object), len(workload.Overrides(object.GetAnnotations())) > 0
	record.state.template = workload.TemplateDigest(content.Template, record.body.owned.byManager)
	return r.shape(record, object)
}

// shape sets the shape of a record's pods. The shape includes the update strategy of the pods, but the
// fingerprint does not.
func (r *reducer) shape(record *Record, object workload.Object) *Record {
	if r.hasShapes {
		record.state.shape = workload.ShapeDigest(object, record.body.owned.byManager)
	}
	return record
}

func (r *reducer) bodyOf(object workload.Object) *body {
	owned, outline := r.owners.of(object), workload.NewOutline(object)
	packed := outline.Pack(owned.byManager)
	at := place{outline.Namespace, outline.Name}
	eachName(packed, at.without)
	template, err := packed.Template.Marshal()
	if err != nil {
		template = nil // Every value of the type marshals.
	}
	fresh := body{
		kind: outline.Kind, labels: labelsOf(at, outline.Labels), lastWriter: one(workload.LastWriter(object.GetManagedFields())),
		owned: owned, template: template, details: packed.Details,
	}
	return r.bodies.of(r.printOf(&fresh), func() *body { return &fresh })
}

// printOf returns the fingerprint of a whole body.
func (r *reducer) printOf(of *body) fingerprint {
	buffer, _ := r.hashes.buffers.Get().(*buffer)
	defer r.hashes.buffers.Put(buffer)
	text := binary.AppendUvarint(buffer.text[:0], uint64(len(of.labels)))
	for _, label := range of.labels {
		text = workload.AppendTexts(text, label.key, label.value)
	}
	text = workload.AppendTexts(text, of.kind, of.lastWriter)
	for _, part := range of.owned.print {
		text = binary.LittleEndian.AppendUint64(text, part)
	}
	text = of.details.AppendTo(text)
	text = append(text, of.template...)
	buffer.text = text
	return r.hashes.digest(text)
}
