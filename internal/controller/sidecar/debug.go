// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// The functions in this file log at DEBUG the objects that a reconcile does not write, with the reason.

// logSkipped logs the workloads that are not written, and the number of workloads that are up to date.
func logSkipped(ctx context.Context, decision *decision.Decision) {
	debug := log.FromContext(ctx).V(1)
	if !debug.Enabled() {
		return
	}
	if decision.Invalid != nil {
		debug.Info("skipped injection", "reason", decision.Invalid.Reason, "cause", decision.Invalid.Message)
	}
	current := 0
	for i := range decision.Plans {
		p := &decision.Plans[i]
		switch {
		case p.Writes():
		case p.IsCurrent():
			current++
		default:
			debug.Info("skipped workload", telemetry.KeyWorkload, status.WorkloadTitle(p.Target), "state", string(p.State()), "action", p.Action(), "reason", p.Reason(), "cause", p.Message())
		}
	}
	debug.Info("decided", "matched", decision.Matched, "workloads", len(decision.Plans), "current", current, "missing", len(decision.Missing), "obsolete", len(decision.Obsolete))
}

// logNotWritten logs the cause for which an object was not written, if it is not an error or was reported before.
func logNotWritten(ctx context.Context, object string, cause error) {
	log.FromContext(ctx).V(1).Info("skipped write", "object", object, "cause", cause.Error())
}
