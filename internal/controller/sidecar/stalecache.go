// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// errBehind is the reason to skip a workload while the cache does not show the last write.
var errBehind = errors.New("the cache does not show the last write yet")

// stalenessGuard checks whether the cached workloads that plans are based on are current. The cache may lag behind the API
// server.
type stalenessGuard struct {
	live      client.Reader
	workloads *workloadcache.Cache
	now       func() time.Time
}

// checkView reports whether the cache shows the current workload of a plan, as far as is known. If not, the plan must
// not be written, and checkView returns its result. If an earlier write missed the workload and the cache has not
// changed since, checkView reads the live workload.
func (v *stalenessGuard) checkView(ctx context.Context, sidecarState *state.Sidecar, p *plan.Plan) (result decision.Result, isCurrent bool) {
	stale, isStale := sidecarState.StaleWrite(p)
	if !isStale {
		if !sidecarState.IsPending(p) {
			return decision.Result{}, true
		}
		logNotWritten(ctx, status.WorkloadTitle(p.Target), errBehind)
		return newResult(p, decision.WritePending), false
	}
	if remaining := stale.ReadTime.Sub(v.now()); remaining > 0 {
		logNotWritten(ctx, status.WorkloadTitle(p.Target), errBehind)
		return newStaleResult(p, remaining, stale.UnexplainedConflict()), false
	}
	live := p.Target.Adapter().New()
	err := v.live.Get(ctx, types.NamespacedName{Namespace: p.Target.Namespace, Name: p.Target.Name}, live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		result = newFailure(status.WorkloadTitle(p.Target), fmt.Errorf("reading the live workload: %w", err))
		result.Plan, result.State = p, decision.WriteNotSent
		return result, false
	case err != nil || live.GetUID() != p.Target.UID: // An event will follow and end the wait.
		return newStaleResult(p, sidecarState.RecordMiss(p, nil), nil), false
	case live.GetResourceVersion() != p.Workload.ResourceVersion:
		wait := sidecarState.RecordMiss(p, nil)
		if v.workloads.PutLive(live, v.now()) {
			wait = state.AtOnce // The next reconcile plans from the live workload.
		}
		return newStaleResult(p, wait, nil), false
	}
	sidecarState.ConfirmVersion(p)
	return decision.Result{}, true
}

// isAhead reports whether a write was rejected because another VectorSidecar wrote the workload after it was read.
// Such a rejection is not a conflict, because the other VectorSidecar wrote first.
func isAhead(sidecarState *state.Sidecar, p *plan.Plan, err error) bool {
	var conflict *apply.ConflictError
	stale, _ := sidecarState.StaleWrite(p)
	return errors.As(err, &conflict) && conflict.Siblings && !stale.IsCurrent
}
