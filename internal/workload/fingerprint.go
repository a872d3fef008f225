// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"encoding/binary"
	"hash/maphash"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// fingerprint tells things apart: 128 bits that nobody outside of the process can
// foresee.
type fingerprint [2]uint64

// printer takes fingerprints. Make one with newPrinter.
type printer struct {
	seeds [2]maphash.Seed
	pages sync.Pool
}

// page is what a fingerprint is taken of, kept for the next one.
type page struct {
	deployment appsv1.Deployment
	text       []byte
}

func newPrinter() *printer {
	p := &printer{seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	p.pages.New = func() any { return &page{} }
	return p
}

// of takes the fingerprint of all of a Deployment that its body is made of.
func (p *printer) of(deployment *appsv1.Deployment) fingerprint {
	page, _ := p.pages.Get().(*page)
	defer p.pages.Put(page)
	defer page.clear()
	of := &page.deployment
	of.UID, of.Labels, of.Annotations = deployment.UID, deployment.Labels, deployment.Annotations
	for i := range deployment.ManagedFields {
		// What concerns the status alone changes with each event.
		if deployment.ManagedFields[i].Subresource == "" {
			of.ManagedFields = append(of.ManagedFields, deployment.ManagedFields[i])
		}
	}
	of.Spec.Paused, of.Spec.Selector, of.Spec.Template = deployment.Spec.Paused, deployment.Spec.Selector, deployment.Spec.Template
	return p.digest(page.marshal(of))
}

// ofRecords takes the fingerprint of all of a Deployment that its reach is read from.
func (p *printer) ofRecords(deployment *appsv1.Deployment) fingerprint {
	page, _ := p.pages.Get().(*page)
	defer p.pages.Put(page)
	text := page.text[:0]
	for i := range deployment.ManagedFields {
		if entry := &deployment.ManagedFields[i]; isOurs(entry) || isPatch(entry) {
			fields := ""
			if entry.FieldsV1 != nil {
				fields = entry.FieldsV1.GetRawString()
			}
			text = appendTexts(text, entry.Manager, string(entry.Operation), fields)
		}
	}
	lists := map[string]string{}
	for key, value := range deployment.Spec.Template.Annotations {
		if meta.IsParts(key) {
			lists[key] = value
		}
	}
	page.text = appendMap(text, lists)
	return p.digest(page.text)
}

// ofReached takes the fingerprint of what is reached of a Deployment by records.
func (p *printer) ofReached(records fingerprint, reached *appsv1.Deployment) fingerprint {
	page, _ := p.pages.Get().(*page)
	defer p.pages.Put(page)
	text := page.marshal(reached)
	for _, part := range records {
		text = binary.LittleEndian.AppendUint64(text, part)
	}
	return p.digest(text)
}

// ofBody takes the fingerprint of all that is in a body.
func (p *printer) ofBody(of *body) fingerprint {
	page, _ := p.pages.Get().(*page)
	defer p.pages.Put(page)
	text := binary.AppendUvarint(page.text[:0], uint64(len(of.labels)))
	for _, label := range of.labels {
		text = appendTexts(text, label.key, label.value)
	}
	text = appendTexts(text, of.lastWriter)
	for _, part := range of.owned.print {
		text = binary.LittleEndian.AppendUint64(text, part)
	}
	text = append(text, of.packed...)
	page.text = text
	return p.digest(text)
}

func (p *printer) digest(text []byte) fingerprint {
	return fingerprint{maphash.Bytes(p.seeds[0], text), maphash.Bytes(p.seeds[1], text)}
}

// marshal writes a Deployment on the page.
func (p *page) marshal(of *appsv1.Deployment) []byte {
	if size := of.Size(); cap(p.text) < size {
		p.text = make([]byte, size)
	} else {
		p.text = p.text[:size]
	}
	n, err := of.MarshalToSizedBuffer(p.text)
	if err != nil {
		n = 0 // Every value of the type marshals.
	}
	return p.text[len(p.text)-n:]
}

// clear lets go of the Deployment.
func (p *page) clear() {
	entries := p.deployment.ManagedFields
	clear(entries)
	p.deployment.ObjectMeta = metav1.ObjectMeta{ManagedFields: entries[:0]}
	p.deployment.Spec.Selector, p.deployment.Spec.Template = nil, corev1.PodTemplateSpec{}
}
