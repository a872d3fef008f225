// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// quietSeconds is the maximum number of seconds until Vector reads new lines of a file that had no new lines for a
// while. After 10 s without new lines, Vector checks a file only every 10 s, and it waits up to 2 s between its checks.
const quietSeconds = 12

// fitGracePeriod returns a rendering that fits terminationGracePeriodSeconds of a workload; grace is nil for the
// default of the API server. If the rendering drains for longer than that, the result drains for a shorter time,
// because the API server rejects a longer preStop sleep. Templates cannot read the grace period, so that all workloads
// share one rendering.
func (r *renderer) fitGracePeriod(ctx context.Context, rendered *Rendered, grace *int64) *Rendered {
	graceSeconds := ptr.Deref(grace, corev1.DefaultTerminationGracePeriodSeconds)
	if rendered.Invalid != nil || rendered.Overlay.DrainSeconds() <= graceSeconds {
		return rendered
	}
	key := fmt.Sprintf("%s grace %d", rendered.key, graceSeconds)
	if cached := getCached[*Rendered](r.cache, []byte(key)); cached != nil {
		return cached
	}
	limited := r.limitDrain(ctx, rendered, graceSeconds)
	if rendered.key != "" && ctx.Err() == nil {
		limited.shared.add(rendered.key, limited.Companions, 0)
		limited.cacheIn(r.cache, key)
	}
	return limited
}

// limitDrain returns a copy of the rendering that drains for at most the grace period in seconds.
func (r *renderer) limitDrain(ctx context.Context, rendered *Rendered, grace int64) *Rendered {
	limited := &Rendered{container: rendered.container, Companions: rendered.Companions, readTarget: rendered.readTarget, reserved: rendered.reserved}
	overlay, err := rendered.rendered.WithDrainLimit(grace)
	if err != nil {
		limited.Invalid = &Invalid{meta.ReasonInvalidSidecar, err.Error()}
		return limited
	}
	limited.shortened = fmt.Sprintf("the sidecar drains for %d s instead of %d s, because terminationGracePeriodSeconds of the pods is %d", grace, rendered.Overlay.DrainSeconds(), grace)
	if grace == 0 {
		limited.shortened = fmt.Sprintf("the sidecar does not drain for %d s, because terminationGracePeriodSeconds of the pods is 0", rendered.Overlay.DrainSeconds())
	}
	if grace < quietSeconds {
		limited.shortened += fmt.Sprintf(", and Vector may need %d s to read new lines of a file that had no new lines for a while", quietSeconds)
	}
	r.finishRendering(ctx, limited, overlay, "")
	return limited
}
