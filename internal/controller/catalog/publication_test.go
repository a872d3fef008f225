// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

// A user deletes the values and with them the record of the published revision, and restores the record from a backup
// before the values. The operator continues with the restored record.
func TestRevisions_UseRestoredRecord(t *testing.T) {
	api := newMemoryAPI(t, interceptor.Funcs{}, newInstallation(nil))
	api.load(t)
	platform, err := api.Current()
	require.NoError(t, err)
	record := func() error {
		api.revisions.compared = time.Time{} // The cache lag has passed.
		return api.revisions.recordPublished(t.Context(), platform)
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
