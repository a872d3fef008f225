// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
)

// bindLease makes Kubernetes delete the operator's Lease with the release. The operator
// loses its permissions before it is told to stop, so it cannot release the Lease, and the
// next installation would wait until it expires. The owner is the ConfigMap with the
// installation's values and not the Deployment: Helm deletes it after the permissions, so
// that no running operator can create the Lease again.
func bindLease(ctx context.Context, c client.Client, leaving Operator) error {
	if leaving.Lease == "" || leaving.ValuesConfigMap == "" {
		return nil
	}
	var values corev1.ConfigMapList
	// The operator may not have permission to get it.
	only := client.MatchingFields{"metadata.name": leaving.ValuesConfigMap}
	if err := c.List(ctx, &values, client.InNamespace(leaving.Namespace), only); err != nil {
		return fmt.Errorf("listing ConfigMap %s/%s: %w", leaving.Namespace, leaving.ValuesConfigMap, err)
	}
	for i := range values.Items {
		lease := types.NamespacedName{Namespace: leaving.Namespace, Name: leaving.Lease}
		if err := apply.New(c).Bind(ctx, lease, &values.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
