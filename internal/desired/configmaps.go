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
	// ConfigMap returns a ConfigMap, or nil if it does not exist. It returns an error if the ConfigMap may
	// exist but cannot be read.
	ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error)
}

// ConfigMapKey returns the key that identifies a ConfigMap in decisions about VectorSidecars of a namespace.
// The key is NAME for a ConfigMap of that namespace, and NAMESPACE/NAME for others.
func ConfigMapKey(namespace string, name types.NamespacedName) string {
	if name.Namespace == namespace {
		return name.Name
	}
	return name.String()
}

// ConfigMapNamed returns the namespace and the name of the ConfigMap that a result of ConfigMapKey identifies.
func ConfigMapNamed(namespace, key string) types.NamespacedName {
	if otherNamespace, name, isElsewhere := strings.Cut(key, "/"); isElsewhere {
		return types.NamespacedName{Namespace: otherNamespace, Name: name}
	}
	return types.NamespacedName{Namespace: namespace, Name: key}
}

// ReadConfigMaps reads the ConfigMaps with some keys and adds them to the inputs. It does not read ConfigMaps
// that the inputs already contain.
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
