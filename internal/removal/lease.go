// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package removal

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
)

// bindLease makes Kubernetes delete the operator's Lease with the release. The operator loses its permissions
// before it is stopped, so it cannot release the Lease, and the next installation would wait until the Lease
// expires. The owner is the ConfigMap with the installation's values and not the Deployment. Helm deletes the
// ConfigMap after the permissions, so that a running operator cannot create the Lease again.
func bindLease(ctx context.Context, c client.Client, live *livelist.Client, leaving Operator) error {
	if leaving.Lease == "" || leaving.ValuesConfigMap == "" {
		return nil
	}
	values := &metav1.PartialObjectMetadata{}
	key := client.ObjectKey{Namespace: leaving.Namespace, Name: leaving.ValuesConfigMap}
	// The operator may not have permission to get it.
	exists, err := live.Find(ctx, livelist.Metadata(corev1.SchemeGroupVersion.WithKind("ConfigMap")), key, values)
	if err != nil {
		return fmt.Errorf("listing ConfigMap %s: %w", key, err)
	}
	if !exists {
		return nil
	}
	return apply.New(c).SetLeaseOwner(ctx, types.NamespacedName{Namespace: leaving.Namespace, Name: leaving.Lease}, &corev1.ConfigMap{ObjectMeta: values.ObjectMeta})
}
