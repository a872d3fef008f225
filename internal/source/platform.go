// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// ValuesName is the name of the ConfigMap of the installation's values.
func (i *Installation) ValuesName() types.NamespacedName {
	return types.NamespacedName{Namespace: i.Namespace, Name: i.ValuesFrom}
}

// Platform returns what the installation gives out: its template sets, values, policy and pace of
// rollouts, and the operator's own templates. The catalog must be a new one.
func (i *Installation) Platform(catalog *desired.Catalog) *desired.Platform {
	object := &corev1.ConfigMap{Data: i.Values}
	object.Namespace, object.Name, object.Annotations = i.Namespace, i.ValuesFrom, i.Annotations
	now, _ := catalog.Update(object, i.TemplateSets)
	return now
}

// Earlier returns what the installation gave out as another revision. now and the catalog are those
// of Platform.
func (i *Installation) Earlier(ctx context.Context, cluster client.Reader, catalog *desired.Catalog, now *desired.Platform, revision string) (*desired.Platform, error) {
	if revision == now.Revision {
		return now, nil
	}
	content, err := ReadRevision(ctx, cluster, i.ValuesName(), revision)
	if err != nil {
		return nil, err
	}
	then, err := catalog.At(ctx, content)
	if err != nil {
		return nil, err
	}
	return then.Under(now), nil
}
