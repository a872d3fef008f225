// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// PrefetchLimit is how many workloads are rendered ahead: fewer than a Cache holds,
// unless they are large.
const PrefetchLimit = 512

// Prefetch fills the cache for the first of some workloads in parallel, if the inputs
// ask for it. It changes no result: the results are read from the cache one after the
// other.
func (d *Desired) Prefetch(ctx context.Context, records []*workloadcache.Record) {
	if d.sources.Renderers < 2 || d.cache == nil {
		return
	}
	group := errgroup.Group{}
	group.SetLimit(d.sources.Renderers)
	for i, record := range records[:min(len(records), PrefetchLimit)] {
		own := d.Variant(record)
		if own.Invalid != nil {
			continue
		}
		view := record.View()
		// The first one shows whether others need a rendering of their own.
		if i == 0 && !own.renderer.render(ctx, &view).ReadsTarget() {
			return
		}
		group.Go(func() error {
			own.renderer.render(ctx, &view)
			return nil
		})
	}
	_ = group.Wait() // The functions return no errors; the results have them.
}
