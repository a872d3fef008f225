// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// AddFinalizer adds the finalizer to a VectorSidecar or ClusterVectorSidecar, so that the object exists until its
// sidecars are removed. The error is ErrStale if the object has changed since it was read.
func (w *Writer) AddFinalizer(ctx context.Context, sidecar client.Object) error {
	original := deepCopy(sidecar)
	if !controllerutil.AddFinalizer(sidecar, meta.Finalizer) {
		return nil
	}
	if err := w.patchFinalizers(ctx, sidecar, original); err != nil {
		return fmt.Errorf("adding the finalizer of %s: %w", titleFor(sidecar), err)
	}
	return nil
}

// RemoveFinalizer removes the finalizer from a VectorSidecar or ClusterVectorSidecar. A deleted object is not an
// error. The error is ErrStale if the object has changed since it was read.
func (w *Writer) RemoveFinalizer(ctx context.Context, sidecar client.Object) error {
	original := deepCopy(sidecar)
	if !controllerutil.RemoveFinalizer(sidecar, meta.Finalizer) {
		return nil
	}
	if err := client.IgnoreNotFound(w.patchFinalizers(ctx, sidecar, original)); err != nil {
		return fmt.Errorf("removing the finalizer of %s: %w", titleFor(sidecar), err)
	}
	return nil
}

// patchFinalizers patches the finalizers with optimistic locking, because a merge patch
// replaces the whole list.
func (w *Writer) patchFinalizers(ctx context.Context, updated, original client.Object) error {
	patch := client.MergeFromWithOptions(original, client.MergeFromWithOptimisticLock{})
	return staleError(w.client.Patch(ctx, updated, patch, client.FieldOwner(meta.Operator)))
}

// deepCopy returns a deep copy of an object.
func deepCopy(object client.Object) client.Object {
	return object.DeepCopyObject().(client.Object) //nolint:forcetypeassert // A copy is of the same type.
}
