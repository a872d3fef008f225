// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// patch sends a plan's patch, if it has one, for the resource version that it was made for.
// A patch never conflicts, it takes over the fields that it names; so an update is first
// tried as a dry-run apply. Errors other than conflicts are left to the patch, whose message
// says more.
func (w *Writer) patch(ctx context.Context, reply *metav1.PartialObjectMetadata, p *plan.Plan) error {
	if p.Patch == nil {
		return nil
	}
	if p.Action == plan.Update {
		err := w.apply(ctx, reply.DeepCopy(), identified(p.Apply, p.Target), p, client.DryRunAll)
		if hasCause(err, metav1.CauseTypeFieldManagerConflict) {
			return err
		}
	}
	body := identified(p.Patch, p.Target)
	tree.Map(body["metadata"])["resourceVersion"] = p.ResourceVersion
	return w.send(ctx, reply, types.StrategicMergePatchType, body, p.Manager)
}

// send sends a patch with a precondition on the workload's version.
func (w *Writer) send(ctx context.Context, reply *metav1.PartialObjectMetadata, kind types.PatchType, body map[string]any, manager string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return stale(w.client.Patch(ctx, reply, client.RawPatch(kind, text), client.FieldOwner(manager)))
}
