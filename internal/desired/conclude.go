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

// conclude checks the configuration of an overlay, and sets the overlay to apply if the check
// passes. The execution is the shared result of the overlay, nil if the overlay is only for this
// namespace.
func (r *renderer) conclude(ctx context.Context, of *Rendered, rendered *workload.Overlay, executed *execution) {
	r.check(ctx, rendered, of)
	if of.Invalid = refused(of.Report, of.forbidden, r.request.Values); of.Invalid != nil {
		return
	}
	of.rendered, of.Overlay = rendered, rendered
	version := ""
	if len(of.Companions) > 0 {
		version = companion.Digest(&of.Companions[0])
	}
	if r.config.object != nil {
		uses := usesOf(rendered, of.container, r.config.object)
		if of.Copied, of.Overlay, of.Invalid = copyOf(&r.config, &r.request, rendered, uses, of.Report, of.isReadUnseen); of.Invalid != nil {
			return
		}
	}
	if of.Copied != nil {
		version = of.Copied.Digest
	}
	sidecar, marks, asked, keys := r.request.Sidecar.Name, r.marks(), r.asked.digest(of.Copied), of.readOf()
	fresh := func() *plan.Desired { return plan.NewDesired(of.Overlay, sidecar, of.container, version, marks) }
	given := func() plan.RequestedInput {
		return plan.RequestedInput{Digest: asked, Keys: keys, Inputs: r.asked.changeInputs(of.Copied)}
	}
	if executed != nil && of.Copied == nil {
		// Maps are printed in the order of their keys.
		from, input := fmt.Sprintf("%q %q %q %q", sidecar, of.container, version, marks), fmt.Sprintf("%q %q %s", asked, keys, r.asked.by.names())
		common, isShared := executed.desired(from, fresh, input, given)
		of.Desired, of.isShared, of.askedBytes = common.Desired, isShared, common.bytes
	} else {
		of.Desired = fresh().WithInput(given())
	}
	of.stranded = r.oldest.strands(of.Overlay)
	of.collects = collectionOf(of.Report, of.Overlay.Container(of.container), of.Desired)
}
