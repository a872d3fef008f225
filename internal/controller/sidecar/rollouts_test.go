// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"bytes"
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

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// While the operator cannot mark a revision as failed, VectorSidecars revert from it, but start no other revision,
// because a start would delete the failure from the status.
func TestRolloutTracker_StartsNextRevisionAfterMark(t *testing.T) {
	rules, _ := pacing("halt: {}\nonFailure: Revert").(*corev1.ConfigMap)
	rules.Data["development.yaml"] = "sidecar: {}"
	mayMark, requests := false, 0
	api := newMemoryAPI(t, interceptor.Funcs{
		Patch: func(ctx context.Context, on client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if data, err := patch.Data(object); err != nil || bytes.Contains(data, []byte(meta.AnnotationFailed)) {
				if requests++; !mayMark {
					return errors.New("no right to mark")
				}
			}
			return on.Patch(ctx, object, patch, options...)
		},
	}, rules, objects.NewVectorSidecar("logs", "shop").Selecting("logs", "logs").WithSoak(0).Build())
	now := time.Now()
	api.clock = func() time.Time { return now }
	passes := func() *v1alpha1.RolloutStatus {
		for range 4 {
			_, err := api.once(t, "logs")
			require.NoError(t, err)
		}
		var found v1alpha1.VectorSidecar
		key := types.NamespacedName{Namespace: "shop", Name: "logs"}
		require.NoError(t, api.Get(t.Context(), key, &found))
		return api.memory.GetOrCreate(key).Rollout(&found.Status)
	}
	publish := func(values string) {
		object := &corev1.ConfigMap{}
		require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(rules), object))
		object.Data["development.yaml"] = values
		require.NoError(t, api.Update(t.Context(), object))
	}
	marks := func() (failed []string) {
		var stored appsv1.ControllerRevisionList
		require.NoError(t, api.List(t.Context(), &stored, client.HasLabels{meta.LabelRevision}))
		for i := range stored.Items {
			if stored.Items[i].Annotations[meta.AnnotationFailed] != "" {
				failed = append(failed, stored.Items[i].Labels[meta.LabelRevision])
			}
		}
		return failed
	}
	first := passes().Revision
	require.NotEmpty(t, first)
	deployment := objects.NewDeployment("app", "shop").Labeled("logs", "logs").Build()
	deployment.ResourceVersion = ""
	require.NoError(t, api.Create(t.Context(), deployment))
	api.sync(t)

	publish("sidecar: {image: ''}")
	is := passes()
	failed := is.RevertedFrom
	require.Equal(t, first, is.Revision, "it has returned")
	require.NotEmpty(t, failed)
	require.Empty(t, marks())
	tries := requests
	require.LessOrEqual(t, tries, 2, "not with each reconcile")

	publish("sidecar: {logLevel: warn}")
	is = passes()
	require.Equal(t, first, is.Revision)
	require.Contains(t, is.Message, "no right to mark")
	require.Equal(t, failed, is.FailedRevision)

	mayMark, now = true, now.Add(time.Hour)
	require.NotEqual(t, first, passes().Revision)
	require.Equal(t, []string{failed}, marks())
}

// A VectorSidecar may be reconciled before the platform is loaded. Its reconcile writes nothing and is requeued.
func TestVectorSidecarReconciler_WaitsForPlatform(t *testing.T) {
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
