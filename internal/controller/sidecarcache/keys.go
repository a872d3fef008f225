// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarcache

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Keys returns the namespaces and names of VectorSidecars.
func Keys(sidecars []v1alpha1.VectorSidecar) []types.NamespacedName {
	var keys []types.NamespacedName
	for i := range sidecars {
		keys = append(keys, client.ObjectKeyFromObject(&sidecars[i]))
	}
	return keys
}
