// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// ConfigMapReader reads the ConfigMaps that the desired sidecars depend on.
type ConfigMapReader interface {
	// GetConfigMap returns a ConfigMap, or nil if it does not exist. It returns an error if the ConfigMap may exist
	// but cannot be read. The result must not be changed.
	GetConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error)
}

// ServiceAccountReader reads the ServiceAccounts of workloads.
type ServiceAccountReader interface {
	// GetServiceAccount returns a ServiceAccount. If the ServiceAccount does not exist or the permission is missing,
	// the result contains the reason. All other failures are errors, because the ServiceAccount may exist.
	GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error)
}
