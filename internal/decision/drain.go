// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/store"
)

// cuts are what is wanted of workloads whose pods have to end sooner than a sidecar
// drains, by the seconds that they have.
type cuts struct {
	mu   sync.Mutex
	made map[int64]*wanted
}

// within returns what is wanted of a workload whose pods get so many seconds to end,
// nil for the API server's default. It is the same unless a container would sleep for
// longer than that before it is told to stop, which the API server refuses: then the
// sleep is cut. Templates do not see the seconds, so that one rendering serves all.
func (b *batch) within(ctx context.Context, of *wanted, grace *int64) *wanted {
	has := ptr.Deref(grace, corev1.DefaultTerminationGracePeriodSeconds)
	if of.invalid != nil || of.overlay.DrainSeconds() <= has {
		return of
	}
	of.cuts.mu.Lock()
	defer of.cuts.mu.Unlock()
	if cut := of.cuts.made[has]; cut != nil {
		return cut
	}
	cut := b.cut(ctx, of, has)
	if of.cuts.made == nil {
		of.cuts.made = map[int64]*wanted{}
	}
	if ctx.Err() != nil {
		return cut
	}
	of.cuts.made[has] = cut
	bytes := store.Footprint(cut) - store.Footprint(cut.companions) // Those are the rendering's.
	cut.bytes.Store(int64(bytes))
	b.memo.grow(of, bytes)
	return cut
}

// cut makes what is wanted of workloads whose pods have so many seconds to end.
func (b *batch) cut(ctx context.Context, of *wanted, grace int64) *wanted {
	cut := &wanted{container: of.container, companions: of.companions, readTarget: of.readTarget}
	overlay, err := of.rendered.Draining(grace)
	if err != nil {
		cut.invalid = &Invalid{meta.ReasonInvalidSidecar, err.Error()}
		return cut
	}
	const why = "the terminationGracePeriodSeconds of its pods is"
	cut.shortened = fmt.Sprintf("drains for %d s and not for %d s: %s %d", grace, of.overlay.DrainSeconds(), why, grace)
	if grace == 0 {
		cut.shortened = fmt.Sprintf("does not drain for %d s: %s 0", of.overlay.DrainSeconds(), why)
	}
	b.conclude(ctx, cut, overlay)
	return cut
}
