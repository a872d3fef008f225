// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// errBehind is the reason to skip a workload while the cache does not show the last write.
var errBehind = errors.New("the cache does not show the last write yet")

// views checks whether the cached workloads that plans are based on are current. The cache may lag behind the API
// server.
type views struct {
	live      client.Reader
	workloads *workloadcache.Cache
	now       func() time.Time
}

// mayWrite reports whether a plan may be written, because its workload is not known to be stale. If an attempt missed
// the workload and the cache has not changed, mayWrite reads the live workload.
func (v *views) mayWrite(ctx context.Context, sidecarState *state.Sidecar, p *plan.Plan, result *outcome) bool {
	missed := sidecarState.Missed(p)
	if missed == nil {
		isPending := sidecarState.IsPending(p)
		if isPending {
			result.pend(p)
			tellUndone(ctx, status.Object(p.Target), errBehind)
		}
		return !isPending
	}
	if remaining := missed.Look.Sub(v.now()); remaining > 0 {
		tellUndone(ctx, status.Object(p.Target), errBehind)
		result.miss(remaining)
		result.unexplained(p, missed)
		return false
	}
	live := p.Target.Adapter().New()
	err := v.live.Get(ctx, types.NamespacedName{Namespace: p.Target.Namespace, Name: p.Target.Name}, live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		result.fail(status.Object(p.Target), meta.ReasonRetrying, fmt.Errorf("reading the live workload: %w", err), false)
		return false
	case err != nil || live.GetUID() != p.Target.UID:
		result.miss(sidecarState.Miss(p, nil)) // An event will follow and end the wait.
		return false
	case live.GetResourceVersion() != p.Workload.ResourceVersion:
		wait := sidecarState.Miss(p, nil)
		if v.workloads.Overtake(live, v.now()) {
			wait = atOnce // The next reconcile plans from the live workload.
		}
		result.miss(wait)
		return false
	}
	sidecarState.Confirm(p)
	return true
}

// isAhead reports whether a write was rejected because another VectorSidecar wrote the workload after it was read. Such
// a rejection is not a conflict, because the other VectorSidecar wrote first.
func isAhead(sidecarState *state.Sidecar, p *plan.Plan, err error) bool {
	var conflict *apply.ConflictError
	missed := sidecarState.Missed(p)
	return errors.As(err, &conflict) && conflict.Siblings && (missed == nil || !missed.IsCurrent)
}
