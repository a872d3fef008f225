// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// execute renders the templates for one workload, or returns the result of another namespace with the same
// input. The sharedRendering is nil if the result is only for this namespace.
func (r *renderer) execute(ctx context.Context, request render.Request) (*render.Result, *sharedRendering, error) {
	namespace := request.Sidecar.Namespace
	if cached := r.cache.getSharedRendering(r.shared, request.Target); cached != nil {
		return cached.result.ForNamespace(namespace), cached, nil
	}
	end := r.observer.startStep(ctx, Render)
	result, err := render.Render(ctx, request)
	end(err)
	if err != nil || !result.IsNamespaceIndependent || r.cache == nil {
		return result, nil, err
	}
	fresh := newSharedRendering(result)
	r.cache.putSharedRendering(r.shared, request.Target, fresh)
	return result.ForNamespace(namespace), fresh, nil // The caller changes its companions.
}

// getSharedRendering returns the cached rendering of the same input for an equal workload, or nil for none.
func (c *Cache) getSharedRendering(shared []byte, target *workload.View) *sharedRendering {
	if c == nil {
		return nil
	}
	for _, reads := range c.readBy(shared) {
		if cached := getCached(c, c.executions, target.AppendReads(slices.Clone(shared), reads)); cached != nil {
			return cached
		}
	}
	return nil
}

// putSharedRendering caches a rendering for getSharedRendering.
func (c *Cache) putSharedRendering(shared []byte, target *workload.View, fresh *sharedRendering) {
	reads := c.noteRead(shared, fresh.result.ReadTarget)
	// Objects derived from the result need about the same size again.
	putCached(c, c.executions, target.AppendReads(slices.Clone(shared), reads), fresh, 2*bounded.Footprint(fresh.result))
}
