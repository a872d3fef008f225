// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Offer is which kinds of workloads can have sidecars.
type Offer struct {
	// Served are the kinds that the installation serves, nil if that is not known: then
	// all.
	Served []string
	// Lacking are those of which the cluster lacks the API.
	Lacking []string
	// Manifests reports whether the workloads are manifests that are applied with the sidecar, so that the pod template
	// of every kind can be changed.
	Manifests bool
}

// Observed is what was read from a cluster, or from files, for one VectorSidecar.
type Observed struct {
	// Inputs are what its sidecars are rendered from.
	desired.Inputs

	// Workloads of the namespace: at least those that the selector matches and those
	// that carry something of this VectorSidecar.
	Workloads []*workloadcache.Record
	Offer
	// Others are the other VectorSidecars of the namespace.
	Others []v1alpha1.VectorSidecar
	// Companions are the objects made for this VectorSidecar. They may have a digest in
	// place of their content.
	Companions []corev1.ConfigMap
	// Now is when it was read.
	Now time.Time
}
