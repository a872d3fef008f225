// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"crypto/sha256"
	"encoding/json"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// render returns the rendering for one workload that fits the workload's grace period.
func (r *renderer) render(ctx context.Context, target *workload.View) *Rendered {
	return r.fitGracePeriod(ctx, r.renderCached(ctx, target), target.GraceSeconds)
}

// renderCached returns the rendering for one workload, from the cache if possible. All workloads share a rendering that
// are equal in the fields that the templates have read.
func (r *renderer) renderCached(ctx context.Context, target *workload.View) *Rendered {
	if cached := findCached[Rendered](r.cache, r.common, target); cached != nil {
		return cached
	}
	fresh := r.evaluate(ctx, target)
	if r.cache != nil && ctx.Err() == nil && !fresh.TimedOut { // A timeout is not cached, because it may depend on the load.
		fresh.shared.keys = append(fresh.shared.keys, string(r.common)) // Without the entry with the lists of read fields, findCached does not find the rendering.
		fresh.cacheIn(r.cache, r.cache.keyFor(r.common, target, fresh.readTarget))
	}
	return fresh
}

// evaluate renders the sidecar for one workload, and checks its configuration.
func (r *renderer) evaluate(ctx context.Context, target *workload.View) *Rendered {
	var shared sharedValues
	executed := r.execute(ctx, target, &shared)
	fresh := &Rendered{
		readTarget: executed.result.ReadTarget, TimedOut: executed.isTimedOut, isTemplateError: executed.isTemplateError,
		container: tree.Text(r.request.Values.Tree, "sidecar", "name"), reserved: executed.reserved, Invalid: executed.invalid, shared: shared,
	}
	if fresh.Invalid != nil {
		return fresh
	}
	overlay := executed.result.Overlay
	rendered := &overlay // The copy does not keep the companions of the result in memory.
	if executed.key != "" {
		rendered = &executed.result.Overlay
	}
	fresh.Companions = r.companions(executed, &fresh.shared)
	end := r.observer.startStep(ctx, Check)
	r.finishRendering(ctx, fresh, rendered, executed.key)
	end(fresh.Invalid.err())
	return fresh
}

// companions returns the companions of an execution in the namespace of the VectorSidecar. Renderings with equal
// companions share them, because companions are the largest part of a rendering.
func (r *renderer) companions(executed *execution, shared *sharedValues) []corev1.ConfigMap {
	companions := executed.result.Companions
	if executed.key != "" {
		companions = executed.result.CompanionsFor(r.request.Sidecar.Namespace)
	}
	if len(companions) == 0 || r.cache == nil {
		return companions
	}
	text, _ := json.Marshal(companions) // Objects of this type always marshal, with sorted keys.
	sum := sha256.Sum256(text)
	if cached := getCached[[]corev1.ConfigMap](r.cache, sum[:]); cached != nil {
		shared.add(string(sum[:]), cached, 0)
		return cached
	}
	bytes := bounded.Footprint(companions)
	r.cache.put(string(sum[:]), companions, bytes)
	shared.add(string(sum[:]), companions, bytes)
	return companions
}
