// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package evaluate decides on a snapshot for one VectorSidecar: what its workloads
// should carry (package desired), and what to do (package decision). The operator, the
// plugin and the tests all use it, so that a preview shows what the operator does. It
// knows no cluster and no clock: the caller reads the ConfigMaps that a snapshot turns
// out to lack.
package evaluate

import (
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/preflight"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Snapshot is everything that a decision on one VectorSidecar needs.
type Snapshot struct {
	// Observed is what was read; the rest is the memory of the process.
	decision.Observed

	// Adopted is the content of the rollout under way; its zero value is none.
	Adopted decision.Adopted
	// Previous is from the last decision; nil for none. It saves work and changes no
	// decision.
	Previous *decision.Previous
	// Verdict returns the result of Vector's own validation; nil if the operator may
	// not run it.
	Verdict func(key string) decision.Verdict
	// Started returns the generation after the last write to a workload, 0 if none is
	// known; nil if none are.
	Started func(types.UID) int64
	// Trials are the verdicts of dry runs on the sidecar that hold now; nil if there are none.
	Trials map[preflight.Key]preflight.DryRunResult
	// Loops are the workloads where somebody keeps removing the sidecar, so that it is
	// not written for now.
	Loops map[types.UID]decision.Loop
	// Denials are the last writes to workloads that were refused.
	Denials map[types.UID]decision.Denial
	// Carried returns whether a workload of another operator's has carried the sidecar, and its
	// last writer by then; nil if that is not known of any.
	Carried func(types.UID) (lastWriter string, ok bool)
	// OnNodes returns the workloads of all namespaces that are on every node; nil if only
	// those of the snapshot are known.
	OnNodes func() []*workloadcache.Record
	// Faults are what keeps pods from running, for the workloads whose pods were read;
	// the zero value if nothing does.
	Faults map[types.UID]workload.Fault
	// PodsNotRead explains why pods are not read, "" if they are. BlindHalt explains why rollout.halt cannot see the causes
	// of failures, "" if it can, or is not set.
	PodsNotRead, BlindHalt string
	// Offers asks for Decision.Offers, too: what workloads that do not exist yet would carry.
	Offers bool
	// Unserved says why the API server injects nothing in the operator's place, whatever the sidecar
	// is; "" for no such reason, or if it is not known.
	Unserved string
	// Undefined says which field of a pod the definition of a kind does not have, so that the API server would drop it,
	// "" for none, or if it is not known; nil if nobody knows definitions.
	Undefined func(kind *workload.Kind, pod map[string]any) string
	// Hold lets nothing but removals be written; nil if nothing does.
	Hold *plan.WriteHold
	// Late lets nothing begin that has waited for spec.rollout.maxAge; nil if nothing does.
	Late *plan.WriteHold
}
