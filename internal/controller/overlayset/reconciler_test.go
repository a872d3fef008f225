// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package overlayset

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/overlayset"
)

// An OverlaySet has the sidecars of all VectorSidecars of its namespace. If there are many, changes are collected and
// written together, except for removals, which do not wait.
func TestReconciler_GroupsWritesOfLargeNamespaces(t *testing.T) {
	var crowded []client.Object
	for i := range crowd + 20 {
		vs := &v1alpha1.VectorSidecar{}
		vs.Namespace, vs.Name = "shop", fmt.Sprintf("vector-%03d", i)
		crowded = append(crowded, vs)
	}
	writes := 0
	known := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(known))
	api := fake.NewClientBuilder().WithScheme(known).WithObjects(crowded...).WithInterceptorFuncs(interceptor.Funcs{
		Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
			writes++
			return c.Create(ctx, object, options...)
		},
		Update: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.UpdateOption) error {
			writes++
			return c.Update(ctx, object, options...)
		},
	}).Build()
	now := time.Now()
	clock := func() time.Time { return now }
	memory := NewMemory(clock, true)
	reconciler := New(Options{
		Cached: api, Live: api, Writer: apply.New(api), Sidecars: sidecarcache.New(api, nil, "", false), Policies: &PolicyAPI{definitions: &definitions{}}, Memory: memory, Notifier: &notify.Notifier{}, Clock: clock,
	})
	update := func() time.Duration {
		result, err := reconciler.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: meta.OverlaySet}})
		require.NoError(t, err)
		return result.RequeueAfter
	}
	keep := func(n int, reason string) time.Duration {
		sidecar, ok := crowded[n].(*v1alpha1.VectorSidecar)
		require.True(t, ok)
		memory.RequestUpdate(sidecar, &decision.Decision{OverlayBlocker: reason})
		return update()
	}
	lefts := func() (all []string) {
		set := &v1alpha1.OverlaySet{}
		require.NoError(t, api.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: meta.OverlaySet}, set))
		for i := range set.Spec.Overlays {
			all = append(all, set.Spec.Overlays[i].SkipReason)
		}
		return all
	}

	for n := range crowd {
		require.Zero(t, keep(n, "first"))
	}
	require.Equal(t, crowd, writes, "a few are written at once, each")
	for n := crowd; n < len(crowded); n++ {
		require.Equal(t, writePause, keep(n, "first"))
		require.Equal(t, writePause, keep(n, "first"), "an event meanwhile does not hurry it")
	}
	require.Equal(t, crowd, writes)
	now = now.Add(writePause)
	require.Zero(t, keep(crowd, "first"))
	require.Equal(t, crowd+1, writes)
	require.Len(t, lefts(), len(crowded), "all that waited")
	for n := range crowded {
		require.Zero(t, keep(n, "first"))
	}
	require.Equal(t, crowd+1, writes)

	memory.namespaces["shop"].overlays["vector-003"] = overlayset.SidecarOverlays{Overlays: []v1alpha1.Overlay{{VectorSidecar: "vector-003"}}}
	require.Equal(t, writePause, keep(4, "second"))
	require.Zero(t, keep(3, "refused"), "what is withdrawn does not wait")
	require.Equal(t, crowd+2, writes)
	require.Equal(t, "refused", lefts()[3])
	require.Equal(t, "second", lefts()[4], "nor does what comes along")
	crowded[5].(*v1alpha1.VectorSidecar).Spec.Enabled = new(bool)
	require.NoError(t, api.Update(t.Context(), crowded[5]))
	require.True(t, memory.RequestRemoval(crowded[5].(*v1alpha1.VectorSidecar)))
	require.Zero(t, update(), "nor does one that is disabled")
	require.Len(t, lefts(), len(crowded)-1)

	require.Equal(t, writePause, keep(6, "second"))
	now = now.Add(-time.Hour)
	require.Zero(t, keep(6, "second"), "another clock makes it no longer")
}

// newWorld returns a Reconciler of a namespace with one VectorSidecar, its Memory, and the queue of VectorSidecars.
func newWorld(t *testing.T, funcs interceptor.Funcs) (*Reconciler, *v1alpha1.VectorSidecar, workqueue.TypedRateLimitingInterface[reconcile.Request]) {
	t.Helper()
	scheme := runtime.NewScheme()
	require.NoError(t, v1alpha1.AddToScheme(scheme))
	sidecar := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "logs"}}
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(sidecar).WithInterceptorFuncs(funcs).Build()
	queue := workqueue.NewTypedRateLimitingQueue(workqueue.DefaultTypedControllerRateLimiter[reconcile.Request]())
	t.Cleanup(queue.ShutDown)
	notifier := &notify.Notifier{}
	require.NoError(t, notifier.Source().Start(t.Context(), queue))
	return New(Options{
		Cached: api, Live: api, Writer: apply.New(api), Sidecars: sidecarcache.New(api, nil, "", false), Policies: &PolicyAPI{definitions: &definitions{}},
		Memory: NewMemory(time.Now, true), Notifier: notifier, Clock: time.Now,
	}), sidecar, queue
}

var overlaySetOfShop = reconcile.Request{NamespacedName: types.NamespacedName{Namespace: "shop", Name: meta.OverlaySet}}

// If the write of an OverlaySet fails, its VectorSidecars are reconciled, and their statuses report it. When the write
// succeeds, they are reconciled again.
func TestReconciler_RequeuesVectorSidecarAfterFailure(t *testing.T) {
	failure := errors.New("no space")
	reconciler, sidecar, queue := newWorld(t, interceptor.Funcs{Create: func(ctx context.Context, c client.WithWatch, object client.Object, options ...client.CreateOption) error {
		if failure != nil {
			return failure
		}
		return c.Create(ctx, object, options...)
	}})
	name := client.ObjectKeyFromObject(sidecar)
	reconciler.Memory.RequestUpdate(sidecar, &decision.Decision{OverlayBlocker: "paused"})
	require.NoError(t, reconciler.Memory.Err(name))

	_, err := reconciler.Reconcile(t.Context(), overlaySetOfShop)
	require.ErrorIs(t, err, failure)
	require.ErrorIs(t, reconciler.Memory.Err(name), failure)
	require.Equal(t, 1, queue.Len())
	woken, _ := queue.Get()
	require.Equal(t, name, woken.NamespacedName)
	queue.Done(woken)
	_, err = reconciler.Reconcile(t.Context(), overlaySetOfShop)
	require.ErrorIs(t, err, failure)
	require.Zero(t, queue.Len(), "the status has the failure already")

	failure = nil
	_, err = reconciler.Reconcile(t.Context(), overlaySetOfShop)
	require.NoError(t, err)
	require.NoError(t, reconciler.Memory.Err(name))
	require.Equal(t, 1, queue.Len())
}

// A removal first writes the OverlaySet without the sidecar, and waits until API servers have read it. Only then is the
// sidecar removed from workloads.
func TestMemory_WaitsUntilOverlayIsRemoved(t *testing.T) {
	reconciler, sidecar, queue := newWorld(t, interceptor.Funcs{})
	memory, name := reconciler.Memory, client.ObjectKeyFromObject(sidecar)
	memory.RequestUpdate(sidecar, &decision.Decision{OverlayBlocker: "paused"})
	_, err := reconciler.Reconcile(t.Context(), overlaySetOfShop)
	require.NoError(t, err)

	require.False(t, memory.RequestRemoval(sidecar), "it is enabled")
	sidecar.Spec.Enabled = new(bool)
	require.True(t, memory.RequestRemoval(sidecar))
	require.Equal(t, admissionLag, memory.RemainingLag(name))
	require.NoError(t, reconciler.Cached.(client.Client).Update(t.Context(), sidecar))
	_, err = reconciler.Reconcile(t.Context(), overlaySetOfShop)
	require.NoError(t, err)
	require.Equal(t, 1, queue.Len())
	require.False(t, memory.RequestRemoval(sidecar))
	require.Positive(t, memory.RemainingLag(name))
	require.Less(t, memory.RemainingLag(name), admissionLag)
	require.True(t, apierrors.IsNotFound(reconciler.Cached.Get(t.Context(), overlaySetOfShop.NamespacedName, &v1alpha1.OverlaySet{})))

	memory.Forget(name)
	_, err = reconciler.Reconcile(t.Context(), overlaySetOfShop)
	require.NoError(t, err)
	require.Empty(t, memory.namespaces, "the namespace may be deleted")
}
