// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"hash/maphash"
	"sync"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// fingerprint tells the bodies of Deployments apart: 128 bits that nobody outside
// of the process can foresee.
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
	if size := of.Size(); cap(page.text) < size {
		page.text = make([]byte, size)
	} else {
		page.text = page.text[:size]
	}
	n, err := of.MarshalToSizedBuffer(page.text)
	if err != nil {
		n = 0 // Every value of the type marshals.
	}
	text := page.text[len(page.text)-n:]
	return fingerprint{maphash.Bytes(p.seeds[0], text), maphash.Bytes(p.seeds[1], text)}
}

// clear lets go of the Deployment.
func (p *page) clear() {
	entries := p.deployment.ManagedFields
	clear(entries)
	p.deployment.ObjectMeta = metav1.ObjectMeta{ManagedFields: entries[:0]}
	p.deployment.Spec.Selector, p.deployment.Spec.Template = nil, corev1.PodTemplateSpec{}
}
