// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// PrefetchLimit is the number of workloads that are rendered in advance. A Cache holds more, unless
// they are large.
const PrefetchLimit = 512

// Prefetch fills the cache for the first workloads in parallel, if the inputs ask for it. It does
// not change results, because they are read from the cache sequentially.
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
		if i == 0 && !variant.renderer.render(ctx, &view).ReadsTarget() {
			return
		}
		group.Go(func() error {
			variant.renderer.render(ctx, &view)
			return nil
		})
	}
	_ = group.Wait() // The functions return no errors; the results have them.
}
