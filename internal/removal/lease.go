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

// bindLease has the operator's Lease go with the release. The operator loses its
// rights before it is told to stop and so cannot give the Lease up, and whoever is
// installed next would wait until it is over. It goes with the installation's values
// and not with the Deployment: helm deletes these after the rights, so that no
// operator that still runs can make it again.
func bindLease(ctx context.Context, c client.Client, gone Operator) error {
	if gone.Lease == "" || gone.ValuesConfigMap == "" {
		return nil
	}
	var values corev1.ConfigMapList
	// Not every installation lets the operator get it.
	only := client.MatchingFields{"metadata.name": gone.ValuesConfigMap}
	if err := c.List(ctx, &values, client.InNamespace(gone.Namespace), only); err != nil {
		return fmt.Errorf("looking for ConfigMap %s/%s: %w", gone.Namespace, gone.ValuesConfigMap, err)
	}
	for i := range values.Items {
		lease := types.NamespacedName{Namespace: gone.Namespace, Name: gone.Lease}
		if err := apply.New(c).Bind(ctx, lease, &values.Items[i]); err != nil {
			return err
		}
	}
	return nil
}
