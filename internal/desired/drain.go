// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// quietSeconds is how long Vector may take to read new lines of a quiet file: one
// without news for 10 s is looked at every 10 s, plus 2 s of waiting between rounds.
const quietSeconds = 12

// within returns what a workload with this terminationGracePeriodSeconds should carry;
// nil is the API server's default. It is the rendering itself unless a preStop sleep is
// longer, which the API server refuses: then the sleep is cut. Templates do not see the
// grace period, so that one rendering serves all.
func (r *renderer) within(ctx context.Context, of *Rendered, grace *int64) *Rendered {
	has := ptr.Deref(grace, corev1.DefaultTerminationGracePeriodSeconds)
	if of.Invalid != nil || of.Overlay.DrainSeconds() <= has {
		return of
	}
	of.cuts.mu.Lock()
	defer of.cuts.mu.Unlock()
	if cut := of.cuts.made[has]; cut != nil {
		return cut
	}
	cut := r.cut(ctx, of, has)
	if of.cuts.made == nil {
		of.cuts.made = map[int64]*Rendered{}
	}
	if ctx.Err() != nil {
		return cut
	}
	of.cuts.made[has] = cut
	bytes := bounded.Footprint(cut) - bounded.Footprint(cut.Companions) // These are counted with the rendering.
	cut.bytes.Store(int64(bytes))
	r.cache.grow(of, bytes)
	return cut
}

// cut makes what workloads with this grace period should carry.
func (r *renderer) cut(ctx context.Context, of *Rendered, grace int64) *Rendered {
	cut := &Rendered{container: of.container, Companions: of.Companions, readTarget: of.readTarget, reserved: of.reserved}
	overlay, err := of.rendered.Draining(grace)
	if err != nil {
		cut.Invalid = &Invalid{meta.ReasonInvalidSidecar, err.Error()}
		return cut
	}
	const why = "the terminationGracePeriodSeconds of its pods is"
	cut.shortened = fmt.Sprintf("drains for %d s and not for %d s: %s %d", grace, of.Overlay.DrainSeconds(), why, grace)
	if grace == 0 {
		cut.shortened = fmt.Sprintf("does not drain for %d s: %s 0", of.Overlay.DrainSeconds(), why)
	}
	if grace < quietSeconds {
		cut.shortened += fmt.Sprintf(", and Vector may need %d s for the last lines of a file that was quiet", quietSeconds)
	}
	r.conclude(ctx, cut, overlay, nil)
	return cut
}
