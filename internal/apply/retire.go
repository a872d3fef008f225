// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Retire deletes a VectorSidecar; if orphan is true, it first sets its deletionPolicy to
// Orphan. The object is gone once an operator has removed the finalizer. One that is missing
// or already being deleted is not an error.
func (w *Writer) Retire(ctx context.Context, sidecar *v1alpha1.VectorSidecar, orphan bool) error {
	if sidecar.DeletionTimestamp != nil {
		return nil
	}
	if orphan && sidecar.Spec.DeletionPolicy != v1alpha1.DeletionOrphan {
		before := sidecar.DeepCopy()
		sidecar.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
		err := w.client.Patch(ctx, sidecar, client.MergeFrom(before), client.FieldOwner(meta.Operator))
		if err := client.IgnoreNotFound(err); err != nil {
			return fmt.Errorf("setting deletionPolicy of VectorSidecar %s/%s: %w", sidecar.Namespace, sidecar.Name, err)
		}
	}
	if err := client.IgnoreNotFound(w.client.Delete(ctx, sidecar)); err != nil {
		return fmt.Errorf("deleting VectorSidecar %s/%s: %w", sidecar.Namespace, sidecar.Name, err)
	}
	return nil
}
