// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// PrefetchLimit is the maximum number of workloads for which Prefetch renders sidecars. A Cache has room for so many
// renderings, unless they are large.
const PrefetchLimit = 512

// Prefetch renders the sidecars of the first workloads in parallel to fill the cache, if Inputs.Renderers is at least
// 2. Later calls return the same results without it, only more slowly.
func (d *Desired) Prefetch(ctx context.Context, records []*workloadcache.Record) {
	if d.sources.Renderers < 2 || d.cache == nil {
		return
	}
	group := errgroup.Group{}
	group.SetLimit(d.sources.Renderers)
	for i, record := range records[:min(len(records), PrefetchLimit)] {
		variant := d.Variant(record)
		if variant.Invalid != nil {
			continue
		}
		view := record.View()
		// The first workload shows whether the renderings differ between workloads.
		if i == 0 && !variant.renderer.render(ctx, &view).readsTarget() {
			return
		}
		group.Go(func() error {
			variant.renderer.render(ctx, &view)
			return nil
		})
	}
	_ = group.Wait() // The functions always return nil, because the cached results contain the errors.
}
