// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"

	"golang.org/x/sync/errgroup"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// aheadLimit is how many workloads are rendered for ahead: fewer than a Memo holds, but
// for large ones.
const aheadLimit = 512

// renderAhead fills the memo for some of the workloads to come, several at once,
// if the snapshot wishes it. It changes no decision: what it finds is asked for
// again, one after the other.
func (d *injection) renderAhead(ctx context.Context, records []*workloadcache.Record) {
	if d.snapshot.Renderers < 2 || d.memo == nil {
		return
	}
	group := errgroup.Group{}
	group.SetLimit(d.snapshot.Renderers)
	for i, record := range records[:min(len(records), aheadLimit)] {
		own := d.variantOf(record)
		if own.invalid != nil {
			continue
		}
		view := record.View()
		// The first one tells whether others need a rendering of their own.
		if i == 0 && len(own.batch.want(ctx, &view).readTarget) == 0 {
			return
		}
		group.Go(func() error {
			own.batch.want(ctx, &view)
			return nil
		})
	}
	_ = group.Wait() // Its functions have no errors: the results tell.
}
