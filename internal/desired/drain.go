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

// quietSeconds is the time that Vector may need to read new lines of a quiet file. Vector reads a
// file without new lines for 10 s only every 10 s, and waits 2 s between rounds.
const quietSeconds = 12

// fitGracePeriod returns the rendering for a workload with this terminationGracePeriodSeconds; nil is the
// API server's default. If a preStop sleep is longer, it is shortened, because the API server
// rejects it. Otherwise the rendering is returned unchanged. Templates cannot read the grace
// period, so one rendering serves all workloads.
func (r *renderer) fitGracePeriod(ctx context.Context, rendered *Rendered, grace *int64) *Rendered {
	graceSeconds := ptr.Deref(grace, corev1.DefaultTerminationGracePeriodSeconds)
	if rendered.Invalid != nil || rendered.Overlay.DrainSeconds() <= graceSeconds {
		return rendered
	}
	rendered.cuts.mu.Lock()
	defer rendered.cuts.mu.Unlock()
	if cut := rendered.cuts.byGracePeriod[graceSeconds]; cut != nil {
		return cut
	}
	cut := r.cut(ctx, rendered, graceSeconds)
	if rendered.cuts.byGracePeriod == nil {
		rendered.cuts.byGracePeriod = map[int64]*Rendered{}
	}
	if ctx.Err() != nil {
		return cut
	}
	rendered.cuts.byGracePeriod[graceSeconds] = cut
	bytes := bounded.Footprint(cut) - bounded.Footprint(cut.Companions) // The Companions are counted with the rendering.
	cut.bytes.Store(int64(bytes))
	r.cache.grow(rendered, bytes)
	return cut
}

// cut returns the rendering for workloads with this grace period.
func (r *renderer) cut(ctx context.Context, rendered *Rendered, grace int64) *Rendered {
	cut := &Rendered{container: rendered.container, Companions: rendered.Companions, readTarget: rendered.readTarget, reserved: rendered.reserved}
	overlay, err := rendered.rendered.Draining(grace)
	if err != nil {
		cut.Invalid = &Invalid{meta.ReasonInvalidSidecar, err.Error()}
		return cut
	}
	const reason = "the terminationGracePeriodSeconds of its pods is"
	cut.shortened = fmt.Sprintf("drains for %d s and not for %d s: %s %d", grace, rendered.Overlay.DrainSeconds(), reason, grace)
	if grace == 0 {
		cut.shortened = fmt.Sprintf("does not drain for %d s: %s 0", rendered.Overlay.DrainSeconds(), reason)
	}
	if grace < quietSeconds {
		cut.shortened += fmt.Sprintf(", and Vector may need %d s for the last lines of a file that was quiet", quietSeconds)
	}
	r.conclude(ctx, cut, overlay, nil)
	return cut
}
