// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package preflight decides which dry runs to make before a sidecar is first written in a namespace, and turns
// the API server's answers into results. It selects the workloads that share one result and builds the pod for
// a dry run. It sends no requests itself.
package preflight

import (
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Result is the dry-run result of a sidecar in the pods of a workload.
type Result string

const (
	// Passed means that the sidecar may be written.
	Passed Result = "passed"
	// Rejected means that the pods would be rejected, or would not start, because of the sidecar.
	Rejected Result = "rejected"
	// RejectedAnyway means that the pods would also be rejected without the sidecar.
	RejectedAnyway Result = "rejected_without_sidecar"
	// Inconclusive means that dry runs are inconclusive. The sidecar may be written.
	Inconclusive Result = "inconclusive"
)

// Results returns all results.
func Results() []Result { return []Result{Passed, Rejected, RejectedAnyway, Inconclusive} }

// Key identifies the workloads of a VectorSidecar that share one dry-run result.
type Key struct {
	// Hash is the injected-hash of the sidecar. Shape is the shape of the workload's pods.
	Hash  string
	Shape uint64
	// Workload is the UID of the workload if the result applies to only one, or "" for all workloads of that
	// shape.
	Workload string
}

// NewKey returns the key of all workloads with the sidecar and the pod shape of a plan.
func NewKey(p *plan.Plan) Key { return Key{Hash: p.InjectedHash(), Shape: p.Workload.Shape} }

// NewWorkloadKey returns the key of only the workload of a plan.
func NewWorkloadKey(p *plan.Plan) Key {
	key := NewKey(p)
	key.Workload = string(p.Target.UID)
	return key
}

// DryRunResult is the dry-run result of a sidecar.
type DryRunResult struct {
	Result Result
	// Message is the error of the API server, "" if the dry run passed.
	Message string
	// Expiry is the time of the next dry run, or zero if the result stays valid.
	Expiry time.Time
	// IsWorkloadSpecific reports whether the result applies to only one workload, even if others have the same shape.
	IsWorkloadSpecific bool
}

// IsRejected reports whether the result blocks the write.
func (v *DryRunResult) IsRejected() bool { return v.Result == Rejected || v.Result == RejectedAnyway }

// NeedsDryRun reports whether a plan writes a sidecar that needs a dry run first.
func NeedsDryRun(p *plan.Plan) bool {
	return p.Writes() && p.StartsPods() && p.Change != plan.Remove && p.Desired != nil
}

// FindResult returns the dry-run result that applies to a plan, and false if there is none. A result for only its
// workload takes precedence.
func FindResult(results map[Key]DryRunResult, p *plan.Plan) (DryRunResult, bool) {
	if result, ok := results[NewWorkloadKey(p)]; ok {
		return result, true
	}
	result, ok := results[NewKey(p)]
	return result, ok
}
