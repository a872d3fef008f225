// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// AddFinalizer adds the finalizer to a VectorSidecar, so that it exists until what it injected is
// removed. The error is ErrStale if another version has been written since.
func (w *Writer) AddFinalizer(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	before := sidecar.DeepCopy()
	if !controllerutil.AddFinalizer(sidecar, meta.Finalizer) {
		return nil
	}
	if err := w.patchFinalizers(ctx, sidecar, before); err != nil {
		return fmt.Errorf("adding the finalizer: %w", err)
	}
	return nil
}

// RemoveFinalizer removes the finalizer; an object already deleted is not an error. The error is
// ErrStale if another version has been written since.
func (w *Writer) RemoveFinalizer(ctx context.Context, sidecar *v1alpha1.VectorSidecar) error {
	before := sidecar.DeepCopy()
	if !controllerutil.RemoveFinalizer(sidecar, meta.Finalizer) {
		return nil
	}
	if err := client.IgnoreNotFound(w.patchFinalizers(ctx, sidecar, before)); err != nil {
		return fmt.Errorf("removing the finalizer: %w", err)
	}
	return nil
}

// patchFinalizers patches the finalizers with optimistic locking, because a merge patch
// replaces the whole list.
func (w *Writer) patchFinalizers(ctx context.Context, after, before *v1alpha1.VectorSidecar) error {
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	return stale(w.client.Patch(ctx, after, patch, client.FieldOwner(meta.Operator)))
}
