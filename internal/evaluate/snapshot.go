// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package evaluate has a snapshot of the world of one VectorSidecar judged: what its
// workloads should carry (package desired), and what is to be done about it (package
// decision). The operator, the plugin and the tests all go through it, so that what a
// person previews is what the operator does. It knows no cluster and no clock: ConfigMaps that
// a snapshot turns out to lack are read by what its caller gives.
package evaluate

import (
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Snapshot is the world as far as one VectorSidecar is concerned.
type Snapshot struct {
	// Observed is what was read; all else is what the process remembers.
	decision.Observed

	// Adopted is what the rollout under way was begun with; its zero value is nothing.
	Adopted decision.Adopted
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
}
