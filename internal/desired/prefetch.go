// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// PrefetchLimit is the maximum number of workloads that Prefetch renders. A Cache can store more renderings,
// unless they are large.
const PrefetchLimit = 512

// Prefetch renders the first workloads in parallel to fill the cache, if Inputs.Renderers is at least 2. It
// does not affect results, because the workloads are then read from the cache one after the other.
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
	_ = group.Wait() // The functions return no errors; the results have them.
}
