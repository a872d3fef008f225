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

// Offer is the set of workload kinds that can have sidecars.
type Offer struct {
	// Served are the kinds that the installation enables. If they are not known, it is nil, and all kinds count as
	// enabled.
	Served []string
	// Lacking are the kinds with an API that the cluster does not have.
	Lacking []string
	// Manifests reports whether the workloads are manifests. The sidecar is applied together with a manifest, so the
	// pod template of every kind can be changed.
	Manifests bool
}

// Observed is the data for one VectorSidecar that was read from a cluster or from files.
type Observed struct {
	// Inputs are the data that the sidecars are rendered from.
	desired.Inputs

	// Workloads are workloads of the namespace: at least the selected ones and the ones that have anything of this
	// VectorSidecar.
	Workloads []*workloadcache.Record
	Offer
	// Others are the other VectorSidecars of the namespace.
	Others []v1alpha1.VectorSidecar
	// Companions are the ConfigMaps that the operator created for the VectorSidecar. They may have a digest instead of
	// their content.
	Companions []corev1.ConfigMap
	// Now is the time of the read.
	Now time.Time
}
