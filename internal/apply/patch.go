// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// patchMounts sends the patch of a plan, if the plan has one. The patch has a precondition on the version of the
// workload from which it was computed. A patch never conflicts, because it makes the manager an owner of all fields
// that it contains. Before an update, a dry-run apply therefore checks for conflicts. All other errors of the dry run
// are ignored, because the patch returns more precise ones.
func (w *Writer) patchMounts(ctx context.Context, reply client.Object, p *plan.Plan) error {
	if p.Write.Patch == nil {
		return nil
	}
	if p.Target.Adapter().Traits.AtomicLists {
		return w.patchItems(ctx, reply, p)
	}
	if p.Change == plan.Update {
		trial, _ := reply.DeepCopyObject().(client.Object)
		err := w.apply(ctx, trial, identifiedBody(p.Write.Apply, p.Target), p, client.DryRunAll)
		if hasCause(err, metav1.CauseTypeFieldManagerConflict) {
			return err
		}
	}
	body := identifiedBody(p.Write.Patch, p.Target)
	tree.Map(body["metadata"])["resourceVersion"] = p.Workload.ResourceVersion
	return w.sendPatch(ctx, reply, types.StrategicMergePatchType, body, p.Manager)
}

// patchItems sends the patch of a plan as a JSON patch of list items, for a kind with atomic lists. The operations
// are computed for the workload as read here, which must have the resource version of the plan. Fields that the
// kind's definition does not have are rejected and not dropped.
func (w *Writer) patchItems(ctx context.Context, reply client.Object, p *plan.Plan) error {
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(targetGVK(p.Target))
	live.SetNamespace(p.Target.Namespace)
	live.SetName(p.Target.Name)
	precondition := identifiedBody(map[string]any{"metadata": map[string]any{"resourceVersion": p.Workload.ResourceVersion}}, p.Target)
	if err := w.sendPatch(ctx, live, types.MergePatchType, precondition, p.Manager); err != nil {
		return err
	}
	operations, err := p.Operations(live.Object)
	if err != nil {
		return err
	}
	text, err := json.Marshal(operations)
	if err != nil {
		return err
	}
	strict := &client.PatchOptions{FieldManager: p.Manager, Raw: &metav1.PatchOptions{FieldValidation: metav1.FieldValidationStrict}}
	err = w.client.Patch(ctx, reply, client.RawPatch(types.JSONPatchType, text), strict)
	switch missingField := unknownField.FindString(fmt.Sprint(err)); {
	case isOvertaken(err):
		return errors.Join(ErrStale, err)
	case missingField != "": // The API server quotes the whole object besides.
		return apierrors.NewBadRequest("the CustomResourceDefinition, possibly of an earlier version, lacks a field that the sidecar needs: " + missingField)
	}
	return err
}

// unknownField matches the error of strict field validation.
var unknownField = regexp.MustCompile(`unknown field "[^"]*"$`)

// isOvertaken reports whether a JSON patch failed because one of its tests did not match. The API server then returns
// no causes. For an invalid object, it returns causes.
func isOvertaken(err error) bool {
	var status apierrors.APIStatus
	return apierrors.IsInvalid(err) && errors.As(err, &status) && (status.Status().Details == nil || len(status.Status().Details.Causes) == 0)
}

// sendPatch sends a patch. The body must contain the resourceVersion of the workload, so that the API server rejects the
// patch if the workload has changed since.
func (w *Writer) sendPatch(ctx context.Context, reply client.Object, kind types.PatchType, body map[string]any, manager string) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	return staleError(w.client.Patch(ctx, reply, client.RawPatch(kind, text), client.FieldOwner(manager)))
}
