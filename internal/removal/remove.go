// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ObstacleError means that a sidecar cannot be removed until a user changes the workload.
type ObstacleError struct{ message string }

func (e *ObstacleError) Error() string { return e.message }

// Remove removes the sidecar and the marks of a field manager from the version of a workload in the view. Remove does
// nothing if the workload has none. The error is a *ObstacleError, or an error of apply.Writer.ApplyWorkload: if it is
// apply.ErrStale, the caller reads the workload again.
func Remove(ctx context.Context, writer *apply.Writer, view *workload.View, manager string) (apply.WriteResult, error) {
	removal, err := planRemoval(view, manager)
	if err != nil || !removal.Writes() {
		return apply.WriteResult{}, err
	}
	return writer.ApplyWorkload(ctx, &removal)
}

// planRemoval returns the plan of a removal. The error is a *ObstacleError.
func planRemoval(view *workload.View, manager string) (plan.Plan, error) {
	removal := plan.ForRemoval(manager, view)
	if removal.IsStopped() {
		return removal, &ObstacleError{removal.Message()}
	}
	return removal, nil
}

// FindWorkload reads a workload from the API server. It returns nil if the workload does not exist anymore or has another
// UID. It uses List, because the operator has no permission to get workloads.
func FindWorkload(ctx context.Context, live *livelist.Client, ref *workload.Ref) (workload.Object, error) {
	object := ref.Adapter().New()
	exists, err := live.Find(ctx, ref.Adapter().NewList(), client.ObjectKey{Namespace: ref.Namespace, Name: ref.Name}, object)
	if err != nil {
		return nil, fmt.Errorf("reading %s %s/%s: %w", ref.Kind, ref.Namespace, ref.Name, err)
	}
	if !exists || object.GetUID() != ref.UID {
		return nil, nil //nolint:nilnil // A deleted object is not an error.
	}
	return object, nil
}
