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

// Bind has a Lease go with a ConfigMap of its namespace: Kubernetes deletes it once
// that is deleted. Who holds it stays. A Lease that there is not is no error.
func (w *Writer) Bind(ctx context.Context, name types.NamespacedName, to *corev1.ConfigMap) error {
	err := retry.RetryOnConflict(retry.DefaultRetry, func() error { // Its holder renews it.
		lease := &coordinationv1.Lease{}
		if err := w.client.Get(ctx, name, lease); err != nil {
			return err
		}
		if err := controllerutil.SetOwnerReference(to, lease, w.client.Scheme()); err != nil {
			return err
		}
		return w.client.Update(ctx, lease, client.FieldOwner(meta.Operator))
	})
	if err := client.IgnoreNotFound(err); err != nil {
		return fmt.Errorf("having Lease %s go with ConfigMap %s: %w", name, to.Name, err)
	}
	return nil
}
