// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package objects

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ConfigMapSet is a desired.ConfigMapReader for ConfigMaps in memory. No other ConfigMaps exist.
type ConfigMapSet map[types.NamespacedName]*corev1.ConfigMap

// GetConfigMap implements desired.ConfigMapReader.
func (s ConfigMapSet) GetConfigMap(_ context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	return s[name], nil
}
