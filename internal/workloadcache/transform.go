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
	// findPrevious returns an earlier record of a workload, or nil, to reuse its unchanged parts. It may be nil.
	findPrevious func(kind, namespace, name string) *Record

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
		Namespace: intern(object.GetNamespace()),
		Name:      object.GetName(),
		UID:       object.GetUID(),
		state:     packState(&state),
		deleting:  object.GetDeletionTimestamp() != nil,
		paused:    content.Paused,
		reference: content.Refers,
		history:   content.History,
		print:     r.hashes.hash(object, &content),
	}
	if r.findPrevious != nil {
		previous := r.findPrevious(content.Kind.Kind, record.Namespace, record.Name)
		if previous != nil && previous.print == record.print {
			record.body, record.overrides, record.state.template = previous.body, previous.overrides, previous.state.template
			return r.shape(record, object)
		}
	}
	record.body, record.overrides = r.internBody(object), len(workload.Overrides(object.GetAnnotations())) > 0
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

func (r *reducer) internBody(object workload.Object) *body {
	owned, outline := r.owners.ownershipFor(object), workload.NewOutline(object)
	packed := outline.Pack(owned.byManager)
	objKey := objectKey{outline.Namespace, outline.Name}
	eachName(packed, objKey.mask)
	template, err := packed.Template.Marshal()
	if err != nil {
		template = nil // Every value of the type marshals.
	}
	fresh := body{
		kind: outline.Kind, labels: newLabels(objKey, outline.Labels), lastWriter: intern(workload.LastWriter(object.GetManagedFields())),
		owned: owned, template: template, details: packed.Details,
	}
	return r.bodies.getOrCreate(r.hashBody(&fresh), func() *body { return &fresh })
}

// hashBody returns the fingerprint of a whole body.
func (r *reducer) hashBody(content *body) fingerprint {
	buffer, _ := r.hashes.buffers.Get().(*buffer)
	defer r.hashes.buffers.Put(buffer)
	text := binary.AppendUvarint(buffer.text[:0], uint64(len(content.labels)))
	for _, label := range content.labels {
		text = workload.AppendTexts(text, label.key, label.value)
	}
	text = workload.AppendTexts(text, content.kind, content.lastWriter)
	for _, word := range content.owned.print {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	text = content.details.AppendTo(text)
	text = append(text, content.template...)
	buffer.text = text
	return r.hashes.digest(text)
}
