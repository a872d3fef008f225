// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// ConfigMaps reads ConfigMaps.
type ConfigMaps interface {
	// ConfigMap reads a ConfigMap. It returns nil if there is none. If one may exist and cannot be
	// read, that is an error.
	ConfigMap(ctx context.Context, name types.NamespacedName) (*corev1.ConfigMap, error)
}

// ReadConfigMaps adds the named ConfigMaps of the VectorSidecar's namespace that the inputs do not
// have yet.
func (i *Inputs) ReadConfigMaps(ctx context.Context, from ConfigMaps, names []string) error {
	for _, name := range names {
		if _, isKnown := i.ConfigMaps[name]; isKnown {
			continue
		}
		object, err := from.ConfigMap(ctx, types.NamespacedName{Namespace: i.Sidecar.Namespace, Name: name})
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
