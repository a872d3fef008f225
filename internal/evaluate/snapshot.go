// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package evaluate has a snapshot of the world of one VectorSidecar judged: what its
// workloads should carry (package desired), and what is to be done about it (package
// decision). The operator, the plugin and the tests all go through it, so that what a
// person previews is what the operator does. It reads no cluster and no clock.
package evaluate

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Snapshot is the world as far as one VectorSidecar is concerned.
type Snapshot struct {
	// Inputs are what its sidecars are rendered from.
	desired.Inputs

	// Workloads of the namespace: at least those that the selector matches
	// and those that carry something of this VectorSidecar.
	Workloads []*workloadcache.Record
	// Others are the other VectorSidecars of the namespace.
	Others []v1alpha1.VectorSidecar
	// Companions are the objects made for this VectorSidecar. Their content may be
	// left out, and a digest be in its place.
	Companions []corev1.ConfigMap
	// Taken is what the rollout under way was begun with; its zero value is nothing.
	Taken decision.Taken
	// Previous is what the decision before has left; nil for nothing. It changes no
	// decision, and saves work.
	Previous *decision.Previous
	// Verdict returns what Vector said of a configuration; nil when the
	// operator may not ask.
	Verdict func(key string) decision.Verdict
	// Started returns the generation that the last write to a workload gave it,
	// 0 if none is remembered; nil when nobody remembers any.
	Started func(types.UID) int64
	// Loops are the workloads from which somebody takes the sidecar again and
	// again, so that it is not to be written for now.
	Loops map[types.UID]decision.Loop
	// Faults are what keeps pods of workloads from running, none included, of the
	// workloads whose pods were looked at.
	Faults map[types.UID]workload.Fault
	// Now is when the snapshot was taken.
	Now time.Time
}
