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

// maxTrims is the maximum number of attempts to trim. A trim must be repeated if another managedFields entry
// has moved, as after most changes of the Deployment controller.
const maxTrims = 5

// trimEntries reduces managedFields to the entries and fields that Plan.Trim keeps, after a plan was applied. Each
// operation tests that the entry has not changed since it was read. A trim changes only managedFields, so it neither
// loses data nor starts a rollout. It sends no request if there is nothing to trim.
func (w *Writer) trimEntries(ctx context.Context, reply *metav1.PartialObjectMetadata, p *plan.Plan) error {
	var err error
	for range maxTrims {
		if reply.ResourceVersion == "" || err != nil {
			if err := w.readMetadata(ctx, reply, p); err != nil {
				return err
			}
		}
		operations := trimOperations(reply, p)
		if len(operations) == 0 {
			return nil
		}
		text, broken := json.Marshal(operations)
		if broken != nil {
			return fmt.Errorf("encoding the patch: %w", broken)
		}
		err = w.client.Patch(ctx, reply, client.RawPatch(types.JSONPatchType, text), client.FieldOwner(p.Manager))
		if !apierrors.IsInvalid(err) {
			return err
		}
	}
	return errors.Join(ErrStale, err)
}

// readMetadata reads the current metadata of a workload from the API server and not from the cache: the response to an
// empty patch contains it.
func (w *Writer) readMetadata(ctx context.Context, reply *metav1.PartialObjectMetadata, p *plan.Plan) error {
	return w.sendPatch(ctx, reply, types.MergePatchType, identifiedBody(map[string]any{}, p.Target), p.Manager)
}

// trimOperations returns the operations that trim managedFields, from the last entry to the first,
// so that indexes stay valid.
func trimOperations(reply *metav1.PartialObjectMetadata, p *plan.Plan) []plan.Operation {
	var operations []plan.Operation
	for i := len(reply.ManagedFields) - 1; i >= 0; i-- {
		entry := &reply.ManagedFields[i]
		remaining, isLess := p.Trim(entry)
		path := fmt.Sprintf("/metadata/managedFields/%d", i)
		switch {
		case !isLess:
			continue
		case remaining == nil:
			operations = append(operations, testOperation(path, entry), plan.Operation{Op: "remove", Path: path})
		default:
			operations = append(operations, testOperation(path, entry), plan.Operation{Op: "replace", Path: path + "/fieldsV1", Value: remaining})
		}
	}
	if len(operations) == 0 {
		return nil
	}
	return append([]plan.Operation{testOperation("/metadata/uid", p.Target.UID)}, operations...)
}

// testOperation returns a JSON patch operation that fails unless the field at a path has a value.
func testOperation(path string, value any) plan.Operation {
	return plan.Operation{Op: "test", Path: path, Value: value}
}
