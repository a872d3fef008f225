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

// execute renders for one target, or reuses the result of another namespace with the same input.
// The execution is nil if the result is only for this namespace.
func (r *renderer) execute(ctx context.Context, request render.Request) (*render.Result, *execution, error) {
	namespace := request.Sidecar.Namespace
	if found := r.cache.executed(r.shared, request.Target); found != nil {
		return found.result.ForNamespace(namespace), found, nil
	}
	end := r.observer.begin(ctx, Render)
	result, err := render.Render(ctx, request)
	end(err)
	if err != nil || !result.IsNamespaceIndependent || r.cache == nil {
		return result, nil, err
	}
	fresh := newExecution(result)
	r.cache.keepExecuted(r.shared, request.Target, fresh)
	return result.ForNamespace(namespace), fresh, nil // The caller changes its companions.
}

// executed returns the result that was rendered from the same input for an equal target, nil if
// none is cached.
func (c *Cache) executed(shared []byte, target *workload.View) *execution {
	if c == nil {
		return nil
	}
	for _, reads := range c.readBy(shared) {
		if found := remembered(c, c.executions, target.AppendReads(slices.Clone(shared), reads)); found != nil {
			return found
		}
	}
	return nil
}

// keepExecuted caches a result for executed.
func (c *Cache) keepExecuted(shared []byte, target *workload.View, fresh *execution) {
	reads := c.noteRead(shared, fresh.result.ReadTarget)
	// Objects derived from the result need about the same size again.
	remember(c, c.executions, target.AppendReads(slices.Clone(shared), reads), fresh, 2*bounded.Footprint(fresh.result))
}
