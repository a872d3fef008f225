// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// onceReader reads each ConfigMap and ServiceAccount at most once, so that all decisions on the same snapshot use the same
// content. A failed read is repeated. A decision reads in one goroutine; onceReader is not safe for concurrent use.
type onceReader struct {
	Source

	configMaps map[types.NamespacedName]*corev1.ConfigMap
	accounts   map[types.NamespacedName]*workload.Account
}

// newOnceReader returns a Source that reads each ConfigMap and each ServiceAccount from another Source only once.
func newOnceReader(source Source) *onceReader {
	return &onceReader{Source: source, configMaps: map[types.NamespacedName]*corev1.ConfigMap{}, accounts: map[types.NamespacedName]*workload.Account{}}
}

// GetConfigMap implements desired.ConfigMapReader.
func (o *onceReader) GetConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	if object, ok := o.configMaps[name]; ok {
		return object, nil
	}
	object, err := o.Source.GetConfigMap(ctx, name)
	if err == nil {
		o.configMaps[name] = object
	}
	return object, err
}

// GetServiceAccount implements desired.ServiceAccountReader.
func (o *onceReader) GetServiceAccount(ctx context.Context, name types.NamespacedName) (*workload.Account, error) {
	if account, ok := o.accounts[name]; ok {
		return account, nil
	}
	account, err := o.Source.GetServiceAccount(ctx, name)
	if err == nil {
		o.accounts[name] = account
	}
	return account, err
}
