// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/binary"
	"hash/maphash"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// fingerprint is a 128-bit keyed hash that is unpredictable outside the process.
type fingerprint [2]uint64

// fingerprintSize is the size of a fingerprint in bytes.
const fingerprintSize = 16

// hasher computes fingerprints. Use newHasher to make one.
type hasher struct {
	seeds   [2]maphash.Seed
	buffers sync.Pool
}

// buffer is the reused input of a fingerprint.
type buffer struct {
	template corev1.PodTemplate
	text     []byte
}

func newHasher() *hasher {
	h := &hasher{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	h.buffers.New = func() any { return &buffer{} }
	return h
}

// hash returns the fingerprint of all fields of a workload that its body is made from.
func (h *hasher) hash(object workload.Object, content *workload.Content) fingerprint {
	buffer, _ := h.buffers.Get().(*buffer)
	defer h.buffers.Put(buffer)
	defer buffer.clear()
	template := &buffer.template
	template.UID, template.Labels, template.Annotations = object.GetUID(), object.GetLabels(), object.GetAnnotations()
	template.OwnerReferences = workload.OwnerReferences(object)
	entries := object.GetManagedFields()
	for i := range entries {
		// Entries for the status change with each event.
		if entries[i].Subresource == "" {
			template.ManagedFields = append(template.ManagedFields, entries[i])
		}
	}
	template.Template = *content.Template
	if content.Refers != nil {
		template.GenerateName = content.Refers.String()
	}
	template.Name, template.Namespace = content.Unread.Template, content.Unread.Other
	size := 0
	if content.Selector != nil {
		size = content.Selector.Size()
	}
	text := buffer.marshal(template, size)
	if content.Selector != nil {
		start := len(text)
		text = append(text, make([]byte, size)...)
		// Every value of the type marshals.
		_, _ = content.Selector.MarshalToSizedBuffer(text[start:])
	}
	return h.digest(text)
}

// hashRecords returns the fingerprint of all fields of a workload that its ManagedFields are read from.
func (h *hasher) hashRecords(object workload.Object) fingerprint {
	buffer, _ := h.buffers.Get().(*buffer)
	defer h.buffers.Put(buffer)
	buffer.text = workload.AppendManagedFields(buffer.text[:0], object)
	return h.digest(buffer.text)
}

// hashSelected returns the fingerprint of the fields that managed fields select from a workload.
func (h *hasher) hashSelected(records fingerprint, selected *corev1.PodTemplate) fingerprint {
	buffer, _ := h.buffers.Get().(*buffer)
	defer h.buffers.Put(buffer)
	text := buffer.marshal(selected, fingerprintSize)
	for _, word := range records {
		text = binary.LittleEndian.AppendUint64(text, word)
	}
	return h.digest(text)
}

func (h *hasher) digest(text []byte) fingerprint {
	return fingerprint{maphash.Bytes(h.seeds[0], text), maphash.Bytes(h.seeds[1], text)}
}

// marshal writes a template to the buffer, with space for more bytes after it.
func (b *buffer) marshal(template *corev1.PodTemplate, room int) []byte {
	size := template.Size()
	if cap(b.text) < size+room {
		b.text = make([]byte, size+room)
	}
	b.text = b.text[:size]
	n, err := template.MarshalToSizedBuffer(b.text)
	if err != nil {
		n = 0 // Every value of the type marshals.
	}
	return b.text[len(b.text)-n:]
}

// clear removes the references to the workload.
func (b *buffer) clear() {
	entries := b.template.ManagedFields
	clear(entries)
	b.template.ObjectMeta = metav1.ObjectMeta{ManagedFields: entries[:0]}
	b.template.Template = corev1.PodTemplateSpec{}
}
