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

// conclude checks the configuration of a rendered overlay. If the check succeeds, it sets the overlay to apply
// and everything that is computed from it. The shared rendering is nil if the overlay is only for this
// namespace.
func (r *renderer) conclude(ctx context.Context, result *Rendered, rendered *workload.Overlay, executed *sharedRendering) {
	r.check(ctx, rendered, result)
	if result.Invalid = validateReport(result.Report, result.forbidden, r.request.Values); result.Invalid != nil {
		return
	}
	result.rendered, result.Overlay = rendered, rendered
	version := ""
	if len(result.Companions) > 0 {
		version = companion.Digest(&result.Companions[0])
	}
	if r.config.object != nil {
		uses := newUses(rendered, result.container, r.config.object)
		if result.Copied, result.Overlay, result.Invalid = newConfigMapCopy(&r.config, &r.request, rendered, uses, result.Report, result.isReadUnseen); result.Invalid != nil {
			return
		}
	}
	if result.Copied != nil {
		version = result.Copied.Digest
	}
	sidecar, marks, inputDigest, keys := r.request.Sidecar.Name, r.marks(), r.requested.digest(result.Copied), result.readKeys()
	fresh := func() *plan.Desired {
		return plan.NewDesired(result.Overlay, sidecar, result.container, version, marks)
	}
	newInput := func() plan.RequestedInput {
		return plan.RequestedInput{Digest: inputDigest, Keys: keys, Inputs: r.requested.changeInputs(result.Copied)}
	}
	if executed != nil && result.Copied == nil {
		// Maps are printed in the order of their keys.
		baseKey, inputKey := fmt.Sprintf("%q %q %q %q", sidecar, result.container, version, marks), fmt.Sprintf("%q %q %s", inputDigest, keys, r.requested.sources.names())
		common, isShared := executed.desiredFor(baseKey, fresh, inputKey, newInput)
		result.Desired, result.isShared, result.askedBytes = common.desired, isShared, common.bytes
	} else {
		result.Desired = fresh().WithInput(newInput())
	}
	result.stranded = r.oldest.strands(result.Overlay)
	result.collects = newCollection(result.Report, result.Overlay.Container(result.container), result.Desired)
}
