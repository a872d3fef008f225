// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"
	"fmt"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// ListNamespaces returns the namespaces with an OverlaySet that has overlays of the VectorSidecar with a name.
func ListNamespaces(ctx context.Context, cached client.Reader, name string) ([]string, error) {
	var list v1alpha1.OverlaySetList
	if err := cached.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing OverlaySets: %w", err)
	}
	var namespaces []string
	for i := range list.Items {
		if slices.ContainsFunc(list.Items[i].Spec.Overlays, func(overlay v1alpha1.Overlay) bool { return overlay.VectorSidecar == name }) {
			namespaces = append(namespaces, list.Items[i].Namespace)
		}
	}
	return namespaces, nil
}
