// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// A user deletes the values and so also the record, and restores the record before the values.
func TestPublisher_ReadsARestoredRecord(t *testing.T) {
	api := newMemoryAPI(t, interceptor.Funcs{})
	catalog := api.snapshots.catalog
	platform, err := catalog.current(t.Context())
	require.NoError(t, err)
	record := func() error {
		catalog.publisher.compared = time.Time{} // The cache lag has passed.
		return catalog.publisher.record(t.Context(), platform)
	}
	require.NoError(t, record())
	stored := &corev1.ConfigMap{}
	require.NoError(t, api.Get(t.Context(), fleet.PublicationName(values), stored))

	require.NoError(t, api.Delete(t.Context(), stored.DeepCopy()))
	require.NoError(t, api.Delete(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: values.Namespace, Name: values.Name}}))
	require.NoError(t, record(), "without values there is no record")
	stored.ResourceVersion = ""
	require.NoError(t, api.Create(t.Context(), stored))
	require.NoError(t, record())
}

// An installation without a ConfigMap of values in its options uses the built-in values. If that ConfigMap is missing,
// the installation waits for it.
func TestCatalogReader_NeedsNamedValuesOnly(t *testing.T) {
	for name, test := range map[string]struct {
		installation types.NamespacedName
		waits        string
	}{
		"none":    {types.NamespacedName{}, ""},
		"present": {values, ""},
		"missing": {types.NamespacedName{Namespace: values.Namespace, Name: "deleted"}, "ConfigMap vector-system/deleted does not exist"},
	} {
		t.Run(name, func(t *testing.T) {
			api := newMemoryAPI(t, interceptor.Funcs{}, sidecar("logs", "vector").Build(), deployment("cart", "vector"))
			api.snapshots.catalog.options.Installation = test.installation
			platform, err := api.snapshots.catalog.current(t.Context())
			require.NoError(t, err)
			require.Equal(t, test.waits == "", platform.Unpublished == "")
			require.Contains(t, platform.Unpublished, test.waits)
		})
	}
}
