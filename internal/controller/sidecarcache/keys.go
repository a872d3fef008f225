// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecarcache

import (
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Keys returns the namespaces and names of VectorSidecars.
func Keys(sidecars []v1alpha1.VectorSidecar) []types.NamespacedName {
	var keys []types.NamespacedName
	for i := range sidecars {
		keys = append(keys, client.ObjectKeyFromObject(&sidecars[i]))
	}
	return keys
}

// ClusterKey returns the key of the reconcile of a ClusterVectorSidecar itself. The keys of the reconciles of its
// namespaces contain the name of the namespace.
func ClusterKey(cluster string) types.NamespacedName {
	return KeyIn("", cluster)
}

// KeyIn returns the key of the VectorSidecar that a ClusterVectorSidecar stands for in a namespace.
func KeyIn(namespace, cluster string) types.NamespacedName {
	return types.NamespacedName{Namespace: namespace, Name: meta.InNamespace(cluster)}
}
