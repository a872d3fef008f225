// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"fmt"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// finishRendering checks the configuration of a rendered overlay. If the configuration is valid, it sets the overlay to
// apply, and the desired sidecar that is computed from the overlay. executionKey is the cache key of the execution that
// rendered the overlay, or "" if only this rendering uses the overlay.
func (r *renderer) finishRendering(ctx context.Context, result *Rendered, rendered *workload.Overlay, executionKey string) {
	r.setReport(ctx, rendered, result)
	if result.Invalid = validateReport(result.Report, result.forbidden, r.request.Values); result.Invalid != nil {
		return
	}
	result.rendered, result.Overlay = rendered, rendered
	version := ""
	if len(result.Companions) > 0 {
		version = companion.Digest(&result.Companions[0])
	}
	if r.config.object != nil {
		uses := newConfigMapUse(rendered, result.container, r.config.object)
		if result.Copied, result.Overlay, result.Invalid = newConfigMapCopy(&r.config, &r.request, rendered, uses, result.Report, result.readsUnknown); result.Invalid != nil {
			return
		}
	}
	if result.Copied != nil {
		version = result.Copied.Digest
	}
	sidecar, notes, inputDigest, keys := r.request.Sidecar.Name, r.notes(), r.requested.digest(result.Copied), result.readKeys()
	newDesired := func() *plan.Desired {
		input := plan.RequestedInput{Digest: inputDigest, Keys: keys, Inputs: r.requested.changeInputs(result.Copied)}
		return plan.NewDesired(result.Overlay, sidecar, result.container, version, notes).WithInput(input)
	}
	if result.Copied != nil {
		executionKey = "" // The overlay to apply mounts the copy, so it differs from the cached overlay.
	}
	// The cache key must not depend on the order of maps. Sprintf prints maps in the order of their keys.
	name := fmt.Sprintf(" %q %q %q %q %q %s", result.container, version, notes, inputDigest, keys, r.requested.sources.names())
	result.Desired = r.cache.derive(executionKey, name, newDesired, &result.shared, result.Overlay, result.Overlay.Body)
	result.stranded = r.oldest.startWarning(result.Overlay)
	result.collects = newCollection(result.Report, result.Overlay.Container(result.container), result.Desired)
}
