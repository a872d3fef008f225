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

// Retire deletes a VectorSidecar or ClusterVectorSidecar; if orphan is true, it first sets its deletionPolicy to
// Orphan. The object is gone once an operator has removed the finalizer. One that is missing
// or already being deleted is not an error.
func (w *Writer) Retire(ctx context.Context, sidecar client.Object, orphan bool) error {
	if sidecar.GetDeletionTimestamp() != nil {
		return nil
	}
	before, name := copyOf(sidecar), nameOf(sidecar)
	if policy := policyOf(sidecar); orphan && *policy != v1alpha1.DeletionOrphan {
		*policy = v1alpha1.DeletionOrphan
		err := w.client.Patch(ctx, sidecar, client.MergeFrom(before), client.FieldOwner(meta.Operator))
		if err := client.IgnoreNotFound(err); err != nil {
			return fmt.Errorf("setting deletionPolicy of %s: %w", name, err)
		}
	}
	if err := client.IgnoreNotFound(w.client.Delete(ctx, sidecar)); err != nil {
		return fmt.Errorf("deleting %s: %w", name, err)
	}
	return nil
}

// policyOf returns the deletionPolicy of a VectorSidecar or ClusterVectorSidecar.
func policyOf(sidecar client.Object) *v1alpha1.DeletionPolicy {
	if cluster, isCluster := sidecar.(*v1alpha1.ClusterVectorSidecar); isCluster {
		return &cluster.Spec.DeletionPolicy
	}
	return &sidecar.(*v1alpha1.VectorSidecar).Spec.DeletionPolicy //nolint:forcetypeassert // There is no third.
}

// nameOf names a VectorSidecar or ClusterVectorSidecar.
func nameOf(sidecar client.Object) string {
	if sidecar.GetNamespace() == "" {
		return meta.Title(meta.InNamespace(sidecar.GetName()))
	}
	return meta.Title(sidecar.GetNamespace() + "/" + sidecar.GetName())
}
