// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

// A changed ConfigMap starts a reconcile of the VectorSidecars that referred to it in their last reconcile, and of no
// others.
func TestAddReference_ReplacesReferencesOfReconcile(t *testing.T) {
	m := New(time.Now)
	logs, audit := m.GetOrCreate(logsOfShop), m.GetOrCreate(auditOfShop)
	in := func(namespace, name string) types.NamespacedName {
		return types.NamespacedName{Namespace: namespace, Name: name}
	}

	logs.AddReference(in("shop", "shipping"))
	logs.AddReference(in("shop", "shipping"))
	logs.AddReference(in("shop", "logs-vector-1"))
	audit.AddReference(in("shop", "shipping"))
	require.ElementsMatch(t, []types.NamespacedName{logsOfShop, auditOfShop}, m.Referrers(in("shop", "shipping")))
	require.Equal(t, []types.NamespacedName{logsOfShop}, m.Referrers(in("shop", "logs-vector-1")))
	require.Empty(t, m.Referrers(in("warehouse", "shipping")), "a VectorSidecar reads its own namespace only")

	require.Empty(t, logs.KeepReferences([]string{"logs-vector-1", "never-asked-for"}), "another one depends on the other")
	require.Equal(t, []types.NamespacedName{auditOfShop}, m.Referrers(in("shop", "shipping")))
	require.Equal(t, []types.NamespacedName{logsOfShop}, m.Referrers(in("shop", "logs-vector-1")))
	require.Empty(t, m.Referrers(in("shop", "never-asked-for")))

	require.Equal(t, []types.NamespacedName{in("shop", "logs-vector-1")}, logs.KeepReferences(nil))
	require.Equal(t, []types.NamespacedName{in("shop", "shipping")}, m.Forget(auditOfShop))
	require.Empty(t, m.referrers, "nothing is left of what is gone")
}
