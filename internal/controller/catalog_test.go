// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/desired"
)

// An installation without a ConfigMap of values in its options uses the built-in values. If that ConfigMap is missing,
// the installation waits for it.
func TestCatalogReconciler_NeedsNamedValuesOnly(t *testing.T) {
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
			api.load(t)
			platform, err := api.snapshots.catalog.current()
			require.NoError(t, err)
			require.Equal(t, test.waits == "", platform.Unpublished == "")
			require.Contains(t, platform.Unpublished, test.waits)
		})
	}
}

// A VectorSidecar may be reconciled before the platform is loaded. Its reconcile writes nothing and is requeued.
func TestCatalogReconciler_BlocksReconcilesBeforeLoad(t *testing.T) {
	wrote := wroteTo{}
	api := newMemoryAPI(t, wrote.funcs(nil), sidecar("logs", "vector").Build(), deployment("cart", "vector"))
	result, err := api.VectorSidecarReconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: logsOfShop})
	require.NoError(t, err)
	require.NotZero(t, result.RequeueAfter)
	require.Empty(t, wrote)

	api.load(t)
	_, err = api.VectorSidecarReconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: logsOfShop})
	require.NoError(t, err)
	require.NotEmpty(t, wrote)
}

// If the first load fails, the status of each VectorSidecar shows the error. A later error does not replace the platform.
func TestCatalogReconciler_ReportsFirstLoadErrorOnly(t *testing.T) {
	rules, _ := pacing("waves: [{name: first, environments: [staging]}]").(*corev1.ConfigMap)
	rules.Annotations = map[string]string{desired.PolicyKey: ""}
	rules.Data[desired.PolicyKey] = "none: of: this"
	failure := errors.New("no answer")
	api := newMemoryAPI(t, interceptor.Funcs{
		List: func(ctx context.Context, on client.WithWatch, list client.ObjectList, options ...client.ListOption) error {
			if _, isRevisions := list.(*appsv1.ControllerRevisionList); isRevisions && failure != nil {
				return failure
			}
			return on.List(ctx, list, options...)
		},
	}, rules)
	catalog, request := api.stages.catalog, reconcile.Request{NamespacedName: catalogKey}
	_, err := catalog.Reconcile(t.Context(), request)
	require.ErrorIs(t, err, failure)
	_, err = catalog.current()
	require.ErrorIs(t, err, failure)

	failure = nil
	api.load(t)
	loaded, err := catalog.current()
	require.NoError(t, err)
	require.NotNil(t, loaded)
}

// Handwritten ConfigMaps are published when they have been quiet, which is not an event. All reconciles are requested
// when the result changes, and only then.
func TestCatalogReconciler_PublishesWithoutEvent(t *testing.T) {
	rules, _ := pacing("maxConcurrent: 1").(*corev1.ConfigMap)
	api := newMemoryAPI(t, interceptor.Funcs{}, rules)
	now, catalog := time.Now(), api.stages.catalog
	catalog.options.Clock = func() time.Time { return now }
	catalog.settling = desired.NewSettling(5 * time.Second)
	requested := 0
	catalog.readers = func(context.Context) []types.NamespacedName { requested++; return nil }
	load := func(wantRequested int) time.Duration {
		t.Helper()
		requested = 0
		result, err := catalog.Reconcile(t.Context(), reconcile.Request{NamespacedName: catalogKey})
		require.NoError(t, err)
		require.Equal(t, wantRequested, requested)
		return result.RequeueAfter
	}
	limit := func() int { return catalog.rules().MaxConcurrent.IntValue() }
	require.Zero(t, load(1))
	require.Equal(t, 1, limit())
	require.Zero(t, load(0))

	stored := &corev1.ConfigMap{}
	require.NoError(t, api.Get(t.Context(), values, stored))
	stored.Data[desired.RolloutKey] = "maxConcurrent: 2"
	require.NoError(t, api.Update(t.Context(), stored))
	require.Equal(t, 5*time.Second, load(1), "the status says why the change waits")
	require.Equal(t, 1, limit())
	now = now.Add(4 * time.Second)
	require.Equal(t, time.Second, load(0), "the clock may be set back")
	now = now.Add(time.Second)
	require.Zero(t, load(1))
	require.Equal(t, 2, limit())
}
