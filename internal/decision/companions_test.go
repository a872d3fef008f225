// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// The sidecars of two workloads use different keys of one ConfigMap. Both use the same copy, and the copy has the keys
// of both.
func TestAddConfigMapCopy_MergesKeysOfOneConfigMap(t *testing.T) {
	made, from, sidecar := &Decision{}, &corev1.ConfigMap{
		Data: map[string]string{"vector.yaml": "a"}, BinaryData: map[string][]byte{"geo.mmdb": {1}},
	}, types.NamespacedName{Namespace: "shop", Name: "logs"}
	made.addConfigMapCopy(&desired.ConfigMapCopy{Name: "logs-vector-1", Keys: []string{"vector.yaml"}}, from, sidecar)
	made.addConfigMapCopy(&desired.ConfigMapCopy{Name: "logs-vector-1", Keys: []string{"geo.mmdb", "vector.yaml"}}, from, sidecar)
	made.addConfigMapCopy(&desired.ConfigMapCopy{Name: "logs-vector-2", Keys: []string{"vector.yaml"}}, from, sidecar)

	require.Len(t, made.Companions, 2)
	require.Equal(t, from.Data, made.Companions[0].Data)
	require.Equal(t, from.BinaryData, made.Companions[0].BinaryData)
	require.Empty(t, made.Companions[1].BinaryData)
}
