// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clustersidecar

import (
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	clientevents "k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/podfaults"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// newReconciler returns a Reconciler with an in-memory API, which gives responses that a real API server does not give
// on demand. It also returns the events.
func newReconciler(t *testing.T, faults interceptor.Funcs, cluster *v1alpha1.ClusterVectorSidecar) (*Reconciler, chan string) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(scheme), v1alpha1.AddToScheme(scheme)))
	shop := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithReturnManagedFields().WithObjects(cluster, shop).
		WithStatusSubresource(cluster).WithInterceptorFuncs(faults).Build()
	recorder := clientevents.NewFakeRecorder(10)
	metrics := telemetry.NewMetrics("1", time.Now)
	sender := events.New(recorder, scheme, nil, metrics)
	go func() { _ = sender.Start(t.Context()) }()
	return New(Options{
		Sidecars: sidecarcache.New(api, nil, "", true), Writer: apply.New(api), Recorder: sender,
		Observer: instrument.New(instrument.Instruments{Metrics: metrics, Reports: telemetry.NewNoopReporter()}, 0, time.Now),
		Catalog:  catalog.New(&catalog.Options{Cached: api}), Access: podfaults.NewAccess(false, nil, nil, time.Now),
		Clusters: state.NewClusters(&notify.Notifier{}),
	}), recorder.Events
}

// current returns the ClusterVectorSidecar logs.
func current(t *testing.T, r *Reconciler) *v1alpha1.ClusterVectorSidecar {
	t.Helper()
	cluster, err := r.Sidecars.Cluster(t.Context(), "logs")
	require.NoError(t, err)
	return cluster
}

// If the CustomResourceDefinition has no status.lastKnownGood, the API server drops the field. The operator writes it
// only once for each version of the definition.
func TestReconciler_WritesDroppedLastKnownGoodOnce(t *testing.T) {
	writes := 0
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs", UID: "u", Generation: 1}}
	cluster.Spec.Rollout = &v1alpha1.RolloutSpec{OnFailure: v1alpha1.OnFailureRevert}
	r, _ := newReconciler(t, interceptor.Funcs{
		SubResourcePatch: func(ctx context.Context, on client.Client, resource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			writes++
			text, err := patch.Data(object)
			require.NoError(t, err)
			body := map[string]any{}
			require.NoError(t, json.Unmarshal(text, &body))
			require.Contains(t, body["status"], "lastKnownGood")
			delete(body["status"].(map[string]any), "lastKnownGood") //nolint:forcetypeassert // The line above checks it.
			text, err = json.Marshal(body)
			require.NoError(t, err)
			return on.SubResource(resource).Patch(ctx, object, client.RawPatch(patch.Type(), text), options...)
		},
	}, cluster)
	writeStatus := func() {
		sidecar := clusterwide.NewSidecar(cluster, "shop", true)
		r.Clusters.Report(sidecar, &lastgood.NamespaceReport{Attempt: lastgood.NewAttempt(sidecar), IsSettled: true, IsRunning: true}, false)
		clusterState := r.Clusters.GetOrCreate("logs")
		specHistory, _ := r.keepSpecHistory(cluster, clusterState)
		require.NoError(t, r.writeStatus(t.Context(), cluster, clusterState, specHistory, nil))
	}

	writeStatus()
	require.Equal(t, 1, writes)
	writeStatus()
	require.Equal(t, 1, writes, "it was dropped")
	cluster.Generation = 2
	writeStatus()
	require.Equal(t, 2, writes, "the next version is tried")
}

// The reconcile of a namespace requests a revert, and the reconcile of the ClusterVectorSidecar writes it once.
func TestReconciler_WritesRequestedRevertOnce(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs", UID: "u", Generation: 1}}
	cluster.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: "good", Spec: "{}"}
	r, recorded := newReconciler(t, interceptor.Funcs{}, cluster)
	sidecar, err := r.Sidecars.Get(t.Context(), clusterwide.KeyIn("shop", "logs"))
	require.NoError(t, err)
	reverted := &v1alpha1.RevertedSpec{Generation: 1, Digest: lastgood.Digest(&sidecar.Spec), FailedWorkloads: 1}

	r.Clusters.RequestRevert(sidecar, reverted, "Deployment web: OOMKilled")
	require.Nil(t, current(t, r).Status.Reverted)
	require.NoError(t, r.revertSpec(t.Context(), current(t, r), r.Clusters.GetOrCreate("logs")))
	require.Equal(t, reverted.Digest, current(t, r).Status.Reverted.Digest)
	require.Contains(t, <-recorded, "Deployment web: OOMKilled")
	written := current(t, r)
	require.NoError(t, r.revertSpec(t.Context(), written.DeepCopy(), r.Clusters.GetOrCreate("logs")))
	require.Equal(t, written, current(t, r), "the request is for the spec before the revert")
}

// The platform no longer reverts specs, so the last known good spec is gone when the request of a namespace is handled.
func TestReconciler_IgnoresRevertWithoutLastKnownGood(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs", UID: "u", Generation: 1}}
	r, _ := newReconciler(t, interceptor.Funcs{}, cluster)
	sidecar, err := r.Sidecars.Get(t.Context(), clusterwide.KeyIn("shop", "logs"))
	require.NoError(t, err)

	r.Clusters.RequestRevert(sidecar, &v1alpha1.RevertedSpec{Generation: 1, FailedWorkloads: 1}, "Deployment web: OOMKilled")
	require.NoError(t, r.revertSpec(t.Context(), current(t, r), r.Clusters.GetOrCreate("logs")))
	require.Nil(t, current(t, r).Status.Reverted)
}
