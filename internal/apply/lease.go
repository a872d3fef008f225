// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package apply

import (
	"context"
	"fmt"

	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// SetLeaseOwner sets a ConfigMap of the same namespace as an owner of a Lease, so that Kubernetes deletes the Lease
// after the ConfigMap. It does not change the holder of the Lease. A missing Lease is not an error.
func (w *Writer) SetLeaseOwner(ctx context.Context, name types.NamespacedName, owner *corev1.ConfigMap) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // The holder renews it concurrently.
		lease := &coordinationv1.Lease{}
		if err := w.client.Get(ctx, name, lease); err != nil {
			return err
		}
		if err := controllerutil.SetOwnerReference(owner, lease, w.client.Scheme()); err != nil {
			return err
		}
		return w.client.Update(ctx, lease, client.FieldOwner(meta.Operator))
	})
	if err := client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("making ConfigMap %s an owner of Lease %s: %w", owner.Name, name, err)
	}
	return nil
}
