// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"strings"

	"k8s.io/apimachinery/pkg/types"
)

// ConfigMapKey returns the lookup key of a ConfigMap for VectorSidecars of a namespace: NAME for a ConfigMap of that
// namespace, and NAMESPACE/NAME for all others.
func ConfigMapKey(namespace string, name types.NamespacedName) string {
	if name.Namespace == namespace {
		return name.Name
	}
	return name.String()
}

// ConfigMapNamed returns the namespace and the name of the ConfigMap with a lookup key. It reverses ConfigMapKey.
func ConfigMapNamed(namespace, key string) types.NamespacedName {
	if otherNamespace, name, isElsewhere := strings.Cut(key, "/"); isElsewhere {
		return types.NamespacedName{Namespace: otherNamespace, Name: name}
	}
	return types.NamespacedName{Namespace: namespace, Name: key}
}
