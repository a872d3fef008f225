// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// trims is how often the record is looked at anew because somebody else's entry came
// to stand elsewhere in it. The Deployment controller does that after most changes.
const trims = 5

// operation is one of a JSON patch.
type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// trim brings the record of who owns what in order once a plan is carried out: to what
// Plan.Trim leaves of it. Each operation holds for the very entry that was looked at, and touches no
// other; nothing but the record is changed, so that nothing can be lost and nothing
// rolls. If there is nothing to trim, no request is made.
func (w *Writer) trim(ctx context.Context, reply *metav1.PartialObjectMetadata, p *plan.Plan) error {
	var err error
	for range trims {
		if reply.ResourceVersion == "" || err != nil {
			if err := w.look(ctx, reply, p); err != nil {
				return err
			}
		}
		operations := trimming(reply, p)
		if len(operations) == 0 {
			return nil
		}
		text, broken := json.Marshal(operations)
		if broken != nil {
			return fmt.Errorf("writing the patch: %w", broken)
		}
		err = w.client.Patch(ctx, reply, client.RawPatch(types.JSONPatchType, text), client.FieldOwner(p.Manager))
		if !apierrors.IsInvalid(err) {
			return err
		}
	}
	return errors.Join(ErrStale, err)
}

// look reads a workload's metadata past the cache: the API server answers a patch that
// changes nothing with what there is.
func (w *Writer) look(ctx context.Context, reply *metav1.PartialObjectMetadata, p *plan.Plan) error {
	return w.send(ctx, reply, types.MergePatchType, identified(map[string]any{}, p.Target), p.Manager)
}

// trimming are the operations that trim the record, from the last entry to the first,
// so that none moves another.
func trimming(reply *metav1.PartialObjectMetadata, p *plan.Plan) []operation {
	var operations []operation
	for i := len(reply.ManagedFields) - 1; i >= 0; i-- {
		entry := &reply.ManagedFields[i]
		kept, isLess := p.Trim(entry)
		path := fmt.Sprintf("/metadata/managedFields/%d", i)
		switch {
		case !isLess:
			continue
		case kept == nil:
			operations = append(operations, operation{"test", path, entry}, operation{Op: "remove", Path: path})
		default:
			operations = append(operations, operation{"test", path, entry}, operation{"replace", path + "/fieldsV1", kept})
		}
	}
	if len(operations) == 0 {
		return nil
	}
	return append([]operation{{"test", "/metadata/uid", p.Target.UID}}, operations...)
}
