// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// DeleteSidecar deletes a VectorSidecar or ClusterVectorSidecar, and can first set its deletionPolicy to Orphan. The
// object exists until an operator has removed the finalizer. An object that is missing or already being deleted
// is not an error.
func (w *Writer) DeleteSidecar(ctx context.Context, sidecar *metav1.PartialObjectMetadata, orphan bool) error {
	if sidecar.DeletionTimestamp != nil {
		return nil
	}
	name := titleFor(sidecar)
	if orphan { // Without effect if it is set.
		reply := sidecar.DeepCopy()
		patch := client.RawPatch(types.MergePatchType, []byte(`{"spec":{"deletionPolicy":"`+v1alpha1.DeletionOrphan+`"}}`))
		err := w.client.Patch(ctx, reply, patch, client.FieldOwner(meta.Operator))
		if err := client.IgnoreNotFound(err); err != nil {
			return fmt.Errorf("setting deletionPolicy of %s: %w", name, err)
		}
	}
	if err := client.IgnoreNotFound(w.client.Delete(ctx, sidecar)); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	return nil
}

// titleFor returns the kind and name of a VectorSidecar or ClusterVectorSidecar.
func titleFor(sidecar client.Object) string {
	if sidecar.GetNamespace() == "" {
		return meta.Title(meta.ClusterSidecarName(sidecar.GetName()))
	}
	return meta.Title(sidecar.GetNamespace() + "/" + sidecar.GetName())
}
