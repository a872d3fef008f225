// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"encoding/binary"
	"hash/maphash"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
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

// ofRecords takes the fingerprint of all of a Deployment that its ManagedFields are read from.
func (p *printer) ofRecords(deployment *appsv1.Deployment) fingerprint {
	page, _ := p.pages.Get().(*page)
	defer p.pages.Put(page)
	page.text = workload.AppendManagedFields(page.text[:0], deployment)
	return p.digest(page.text)
}

// ofSelected takes the fingerprint of what is selected of a Deployment by records.
func (p *printer) ofSelected(records fingerprint, selected *appsv1.Deployment) fingerprint {
	page, _ := p.pages.Get().(*page)
	defer p.pages.Put(page)
	text := page.marshal(selected)
	for _, part := range records {
		text = binary.LittleEndian.AppendUint64(text, part)
	}
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
