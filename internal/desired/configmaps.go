// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ConfigMaps reads ConfigMaps.
type ConfigMaps interface {
	// ConfigMap reads a ConfigMap. It returns nil if the ConfigMap does not exist, and an error if
	// one may exist but cannot be read.
	ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error)
}

// ConfigMapKey returns the key of a ConfigMap in a decision about a VectorSidecar of a namespace:
// the name for a ConfigMap of that namespace, and NAMESPACE/NAME otherwise.
func ConfigMapKey(namespace string, name types.NamespacedName) string {
	if name.Namespace == namespace {
		return name.Name
	}
	return name.String()
}

// ConfigMapNamed returns the ConfigMap that a key of ConfigMapKey stands for.
func ConfigMapNamed(namespace, key string) types.NamespacedName {
	if otherNamespace, name, isElsewhere := strings.Cut(key, "/"); isElsewhere {
		return types.NamespacedName{Namespace: otherNamespace, Name: name}
	}
	return types.NamespacedName{Namespace: namespace, Name: key}
}

// ReadConfigMaps adds the ConfigMaps with these keys unless the inputs already have them.
func (i *Inputs) ReadConfigMaps(ctx context.Context, reader ConfigMaps, names []string) error {
	for _, name := range names {
		if _, isKnown := i.ConfigMaps[name]; isKnown {
			continue
		}
		object, err := reader.ConfigMap(ctx, ConfigMapNamed(i.Sidecar.Namespace, name))
		if err != nil {
			return err
		}
		if i.ConfigMaps == nil {
			i.ConfigMaps = map[string]*corev1.ConfigMap{}
		}
		i.ConfigMaps[name] = object
	}
	return nil
}
