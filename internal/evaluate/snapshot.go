// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package evaluate makes the decision for one VectorSidecar from a snapshot of the cluster. It renders the desired
// sidecars (package desired) and decides how workloads change (package decision). The operator, the plugin and the
// tests all use the package, so that a preview shows the operator's decisions. It does not read a clock, and reads
// ConfigMaps and ServiceAccounts only through the interfaces of a snapshot.
package evaluate

import (
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Snapshot is the complete input of a decision on one VectorSidecar.
type Snapshot struct {
	// Observed is the data that was read. The other fields are the cached state of the process.
	decision.Observed

	// Adopted is the content of the rollout in progress, or the zero value for none.
	Adopted decision.Adopted
	// Previous is the result of the last decision, or nil for none. It saves work and does not change the decision.
	Previous *decision.Previous
	// Verdict returns the result of Vector's own validation. It is nil if the operator may not run Vector.
	Verdict func(key string) decision.Verdict
	// Started returns the generation after the last write to a workload, or 0 if it is not known. It is nil if no
	// generation is known.
	Started func(types.UID) int64
	// Trials are the valid results of dry runs of the sidecar, or nil if there are none.
	Trials map[preflight.Key]preflight.DryRunResult
	// Loops are the stopped correction loops, by workload. The sidecar is not written there for now, because another
	// client keeps removing it.
	Loops map[types.UID]decision.CorrectionLoop
	// Denials are the last rejected writes, by workload.
	Denials map[types.UID]decision.RejectedWrite
	// Carried returns whether a workload with a controller owner has had the sidecar, and its last writer at that time.
	// It is nil if this is not known for any workload.
	Carried func(types.UID) (lastWriter string, ok bool)
	// OnNodes returns the workloads of all namespaces that run on every node. It is nil if only the workloads of the
	// snapshot are known.
	OnNodes func() []*workloadcache.Record
	// Faults are the causes that block pods, for the workloads with pods that were read. The zero value means that no
	// cause was found.
	Faults map[types.UID]workload.Fault
	// PodsNotRead explains why pods are not read, or is "" if they are read. BlindHalt explains why rollout.halt cannot
	// see the causes of failures. It is "" if rollout.halt can see them or is not set.
	PodsNotRead, BlindHalt string
	// Offers requests Decision.Offers, the sidecars of workloads that do not exist yet.
	Offers bool
	// Unserved explains why the API server cannot inject any sidecar. It is "" if such a reason is missing or unknown.
	Unserved string
	// Undefined returns the field of a pod that the definition of a kind does not have. The API server would drop that
	// field. It returns "" if the definition has all fields or is not known. It is nil if no definitions are known.
	Undefined func(kind *workload.Kind, pod map[string]any) string
	// Hold blocks all writes except removals. It is nil if writes are allowed.
	Hold *plan.Block
	// Late blocks the start of rollouts that waited for spec.rollout.maxAge. It is nil if they may start.
	Late *plan.Block
}
