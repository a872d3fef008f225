// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// A webhook answers each write with a conflict. After some retries, the operator no longer treats it as transient.
func TestVectorSidecarReconciler_LimitsTransientConflicts(t *testing.T) {
	now := time.Now()
	r := &VectorSidecarReconciler{memory: state.New(func() time.Time { return now })}
	conflict := fmt.Errorf("writing ConfigMap shop/logs: %w", errors.Join(apply.ErrStale, errors.New("locked")))
	require.False(t, r.isTransient(logsOfShop, nil))
	require.False(t, r.isTransient(logsOfShop, errors.New("no")))
	tried := 0
	for ; r.isTransient(logsOfShop, conflict); tried++ {
		now = now.Add(r.memory.RecordConflict(logsOfShop))
	}
	require.Equal(t, 8, tried)
	require.True(t, r.isTransient(auditOfShop, conflict), "another one has its own count")

	r.memory.ResetConflicts(logsOfShop)
	require.True(t, r.isTransient(logsOfShop, conflict))
}

// After a restart, the first reconcile of a VectorSidecar fails. Its status shows a halt, or that its wave is not
// finished. Other VectorSidecars respect both.
func TestRolloutTracker_KeepsHaltAfterFailedReconcile(t *testing.T) {
	rules := pacing("waves: [{name: first, environments: [staging]}]\nhalt: {failedWorkloads: 1}")
	loading := newMemoryAPI(t, interceptor.Funcs{}, rules)
	loading.load(t)
	platform, err := loading.rollouts.catalog.Current()
	require.NoError(t, err)
	revision := platform.Target.Revision
	began := v1alpha1.RolloutStatus{
		Revision: revision, Previous: "old", Wave: "first", Generation: 1, State: v1alpha1.RolloutProgressing, StartTime: &metav1.Time{Time: time.Now().Add(-time.Minute)},
	}
	failed := began
	failed.State, failed.FailedRevision, failed.FailedWorkloads = v1alpha1.RolloutHalted, revision, 1
	of := func(is v1alpha1.RolloutStatus) client.Object {
		bad := sidecar("bad", "bad").InEnvironment("staging").WithConfigMap("shipping", "").Build()
		bad.Generation, bad.Status.Rollout = 1, &is
		return bad
	}
	ofCluster := func(is v1alpha1.RolloutStatus) client.Object {
		bad := clusterSidecar("bad", "bad", "shop")
		bad.Spec.Environment, bad.Status.Waves = "staging", []v1alpha1.RolloutStatus{is}
		return bad
	}
	for name, test := range map[string]struct {
		bad client.Object
		why string
	}{
		"a halted VectorSidecar":                 {of(failed), "1 workloads failed with revision " + revision + " (rollout.halt): see VectorSidecar shop/bad"},
		"a VectorSidecar of the first wave":      {of(began), "waiting for VectorSidecar shop/bad of wave first to finish revision " + revision},
		"a halted ClusterVectorSidecar":          {ofCluster(failed), "1 workloads failed with revision " + revision + " (rollout.halt): see ClusterVectorSidecar bad"},
		"a ClusterVectorSidecar, its first wave": {ofCluster(began), "waiting for ClusterVectorSidecar bad of wave first to finish revision " + revision},
	} {
		t.Run(name, func(t *testing.T) {
			wrote, busy := wroteTo{}, apierrors.NewTimeoutError("the API server is busy", 1)
			funcs := wrote.funcs(func(object client.Object) error {
				if _, is := object.(*v1alpha1.ClusterVectorSidecar); is {
					return busy
				}
				return nil
			})
			funcs.Get = func(ctx context.Context, on client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
				if _, is := into.(*corev1.ConfigMap); is && key.Name == "shipping" {
					return busy
				}
				return on.Get(ctx, key, into, options...)
			}
			api := newMemoryAPI(t, funcs, rules.DeepCopyObject().(client.Object), namespace("shop"), test.bad, sidecar("good", "good").Build(), deployment("cart", "good"))

			_, err := api.once(t, "good")
			require.NoError(t, err)
			if _, err = api.once(t, "bad"); test.bad.GetNamespace() == "" {
				err = api.onceCluster(t, "bad")
			}
			require.ErrorIs(t, err, busy)
			_, err = api.once(t, "good")

			require.NoError(t, err)
			require.Zero(t, wrote["Deployment"])
			var good v1alpha1.VectorSidecar
			require.NoError(t, api.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "good"}, &good))
			require.Equal(t, test.why, good.Status.Rollout.Message)
		})
	}
}

// The waves wait for the report of each namespace of a ClusterVectorSidecar. Each of these namespaces is reconciled,
// also if the ClusterVectorSidecar changes before. Otherwise, no VectorSidecar would get a rollout slot until a
// restart.
func TestRolloutTracker_ReconcilesEachAwaitedNamespace(t *testing.T) {
	for name, test := range map[string]struct {
		change func(ctx context.Context, api client.Client, all *v1alpha1.ClusterVectorSidecar) error
		fails  error
	}{
		"nothing": {change: func(context.Context, client.Client, *v1alpha1.ClusterVectorSidecar) error { return nil }},
		"it is gone": {change: func(ctx context.Context, api client.Client, all *v1alpha1.ClusterVectorSidecar) error {
			return api.Delete(ctx, all)
		}},
		"it may not have a finalizer": {
			change: func(context.Context, client.Client, *v1alpha1.ClusterVectorSidecar) error { return nil }, fails: refused,
		},
		"it selects others": {change: func(ctx context.Context, api client.Client, all *v1alpha1.ClusterVectorSidecar) error {
			all.Spec.NamespaceSelector.MatchExpressions[0].Values = []string{"shop"}
			all.Generation++
			return api.Update(ctx, all)
		}},
		"it selects none that can be": {change: func(ctx context.Context, api client.Client, all *v1alpha1.ClusterVectorSidecar) error {
			all.Spec.NamespaceSelector.MatchExpressions[0].Values = []string{"no label's value"}
			all.Generation++
			return api.Update(ctx, all)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			wrote := wroteTo{}
			funcs := wrote.funcs(func(object client.Object) error {
				if object.GetName() == "all" {
					return test.fails
				}
				return nil
			})
			all := clusterSidecar("all", "cluster", "shop", "spare")
			api := newMemoryAPI(t, funcs, pacing("maxConcurrent: 5"), namespace("shop"), namespace("spare"), all, sidecar("good", "good").Build(), deployment("cart", "good"))
			_, err := api.once(t, "good")
			require.NoError(t, err)
			require.Zero(t, wrote["Deployment"], "not all have been looked at")

			require.NoError(t, api.Get(t.Context(), client.ObjectKeyFromObject(all), all))
			require.NoError(t, test.change(t.Context(), api, all))
			require.ErrorIs(t, api.onceCluster(t, "all"), test.fails)
			for api.waiting.Len() > 0 {
				request, _ := api.waiting.Get()
				_, err = api.Reconcile(t.Context(), request)
				require.NoError(t, err)
				api.waiting.Done(request)
			}
			require.Equal(t, 1, wrote["Deployment"])
		})
	}
}

// If the API server rejects the finalizer, the VectorSidecar uses no rollout slot until the next attempt, and others
// get the slots.
func TestReconcile_UsesNoSlotForRejectedFinalizer(t *testing.T) {
	for name, bad := range map[string]client.Object{
		"a VectorSidecar":        sidecar("bad", "bad").Build(),
		"a ClusterVectorSidecar": clusterSidecar("bad", "bad", "shop"),
	} {
		t.Run(name, func(t *testing.T) {
			wrote := wroteTo{}
			funcs := wrote.funcs(func(object client.Object) error {
				if object.GetName() == "bad" {
					return refused
				}
				return nil
			})
			api := newMemoryAPI(t, funcs, pacing("maxConcurrent: 1"), namespace("shop"), bad, deployment("other", "bad"), sidecar("good", "good").Build())
			_, err := api.once(t, "good")
			require.NoError(t, err)
			if bad.GetNamespace() == "" {
				require.ErrorIs(t, api.onceCluster(t, "bad"), refused)
				_, err = api.once(t, meta.ClusterSidecarName("bad"))
				require.NoError(t, err, "it waits for the finalizer")
			} else {
				_, err = api.once(t, "bad")
				require.ErrorIs(t, err, refused)
			}
			require.Zero(t, wrote["Deployment"])
			require.NoError(t, api.Create(t.Context(), deployment("cart", "good")))
			api.sync(t)
			clear(wrote)

			_, err = api.once(t, "good")
			require.NoError(t, err)
			require.Equal(t, 1, wrote["Deployment"])
		})
	}
}

// refusing returns an API with eight workloads of one VectorSidecar, and the number of attempts for each workload. The
// API rejects all writes of workloads except the last one.
func refusing(t *testing.T, canary *v1alpha1.CanarySpec, answer error) (api *memoryAPI, tried map[string]int) {
	t.Helper()
	tried = map[string]int{}
	var mu sync.Mutex // Workloads are written concurrently.
	funcs := wroteTo{}.funcs(func(object client.Object) error {
		if _, is := object.(*metav1.PartialObjectMetadata); !is {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		if tried[object.GetName()]++; object.GetName() == "zoo" {
			return nil
		}
		return answer
	})
	vs := sidecar("logs", "vector").Build()
	vs.Spec.Rollout.Canary = canary
	there := []client.Object{vs}
	for _, app := range []string{"a", "b", "c", "d", "e", "f", "g", "zoo"} {
		there = append(there, deployment(app, "vector"))
		there[len(there)-1].SetUID(types.UID(app))
	}
	return newMemoryAPI(t, funcs, there...), tried
}

// Rejected writes are retried in their order, and other workloads do not wait for these retries. A rejected canary does
// not block other workloads either, because it did not test the sidecar.
func TestReconcile_UsesNoRolloutSlotForRejectedWrites(t *testing.T) {
	for name, answer := range map[string]error{
		"by a policy":   apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "app", errors.New("it is frozen")),
		"by a webhook":  apierrors.NewInternalError(errors.New(`admission webhook "a" denied the request`)),
		"by validation": apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "app", nil),
	} {
		for _, canary := range []*v1alpha1.CanarySpec{nil, {Workloads: new(intstr.FromInt32(1))}} {
			t.Run(fmt.Sprint(name, ", with a canary: ", canary != nil), func(t *testing.T) {
				api, tried := refusing(t, canary, answer)

				result, err := api.once(t, "logs")
				for passes := 1; result.RequeueAfter == state.AtOnce; passes++ {
					require.NoError(t, err)
					require.Less(t, passes, 10)
					result, err = api.once(t, "logs")
				}
				require.Equal(t, apierrors.IsInvalid(answer), err == nil, "what may be let in is tried again with a backoff")
				require.Len(t, tried, 8)
				require.Equal(t, 1, tried["zoo"])
				if canary != nil { // The status is not written as often.
					return
				}
				vs := &v1alpha1.VectorSidecar{}
				require.NoError(t, api.Get(t.Context(), logsOfShop, vs))
				require.Len(t, vs.Status.Workloads, 8)
				for _, one := range vs.Status.Workloads {
					require.Equal(t, one.Name != "zoo", one.State == v1alpha1.StateRejected, one.Name)
				}
			})
		}
	}
}

// If a webhook is unavailable or a permission is missing, the next writes would fail, too. Each batch waits for the
// backoff, and all workloads still get their turn.
func TestReconcile_BacksOffAfterGeneralRejection(t *testing.T) {
	for name, answer := range map[string]error{
		"a webhook that is down": apierrors.NewInternalError(errors.New(`no answer: failed calling webhook "a"`)),
		"a missing right":        apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "app", errors.New(`User "vso" cannot patch resource "deployments"`)),
	} {
		for lot, canary := range map[int]*v1alpha1.CanarySpec{5: nil, 1: {Workloads: new(intstr.FromInt32(1))}} {
			t.Run(fmt.Sprint(name, ", with a canary: ", canary != nil), func(t *testing.T) {
				api, tried := refusing(t, canary, answer)
				for passes := 1; tried["zoo"] == 0; passes++ {
					require.LessOrEqual(t, passes, 8)
					_, err := api.once(t, "logs")
					require.ErrorContains(t, err, answer.Error(), "the next pass comes with a backoff")
					require.Len(t, tried, min(passes*lot, 8), "those that were not tried yet come first")
				}
			})
		}
	}
}

// addedAfter records the waits of requested reconciles.
type addedAfter struct {
	queue

	waits []time.Duration
}

func (a *addedAfter) AddAfter(request reconcile.Request, wait time.Duration) {
	a.waits = append(a.waits, wait)
	a.queue.AddAfter(request, wait)
}

// A failed write is retried after a growing backoff. Other workloads of the VectorSidecar do not wait for that backoff.
func TestReconcile_ContinuesAfterFailedWrite(t *testing.T) {
	answer := apierrors.NewInternalError(errors.New(`no answer: failed calling webhook "a"`))
	api, _ := refusing(t, &v1alpha1.CanarySpec{Workloads: new(intstr.FromInt32(1))}, answer)
	later := &addedAfter{queue: api.waiting}
	require.NoError(t, api.periodic.notifier.Source().Start(t.Context(), later))
	for range 4 { // The first statuses are written immediately.
		_, err := api.once(t, "logs")
		require.ErrorContains(t, err, answer.Error())
	}
	require.NotEmpty(t, later.waits, "the status is written soon")
	for _, wait := range later.waits {
		require.LessOrEqual(t, wait, time.Second)
	}
}

// A namespace and a VectorSidecar in it were just created, and the cache has only the VectorSidecar. The reconcile
// waits for the namespace.
func TestReconcile_WaitsForNamespaceInCache(t *testing.T) {
	wrote := wroteTo{}
	api := newMemoryAPI(t, wrote.funcs(nil), sidecar("logs", "vector").Build(), deployment("cart", "vector"))
	require.NoError(t, api.Delete(t.Context(), namespace("shop")))

	result, err := api.once(t, "logs")
	require.NoError(t, err)
	require.Equal(t, state.FirstConflict, result.RequeueAfter)
	require.Equal(t, wroteTo{"record": 1}, wrote)

	require.NoError(t, api.Create(t.Context(), namespace("shop")))
	clear(wrote)
	_, err = api.once(t, "logs")
	require.NoError(t, err)
	require.Equal(t, 1, wrote["Deployment"])
}

// A namespace is not in the cache yet. The webhook reads it from the API server, because with the default environment
// it could give a wrong answer.
func TestSnapshot_ReadsUncachedNamespace(t *testing.T) {
	isSeen, lists := false, 0
	funcs := interceptor.Funcs{
		Get: func(ctx context.Context, on client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
			if into.GetObjectKind().GroupVersionKind().Kind == "Namespace" && !isSeen {
				return apierrors.NewNotFound(schema.GroupResource{Resource: "namespaces"}, key.Name)
			}
			return on.Get(ctx, key, into, options...)
		},
		List: func(ctx context.Context, on client.WithWatch, into client.ObjectList, options ...client.ListOption) error {
			found, is := into.(*metav1.PartialObjectMetadataList)
			if !is {
				return on.List(ctx, into, options...)
			}
			lists++
			asked := (&client.ListOptions{}).ApplyOptions(options)
			name, _ := asked.FieldSelector.RequiresExactMatch(metav1.ObjectNameField)
			namespace := clusterwide.NewNamespaceMetadata("")
			err := on.Get(ctx, client.ObjectKey{Name: name}, namespace)
			if err == nil {
				found.Items = append(found.Items, *namespace)
			}
			return client.IgnoreNotFound(err)
		},
	}
	shop := namespace("shop")
	shop.SetLabels(map[string]string{meta.LabelEnvironment: "production"})
	api := newMemoryAPI(t, funcs, shop)
	api.load(t)
	environmentIn := func(name string) string {
		vs := sidecar("logs", "vector").Build()
		vs.Namespace = name
		taken, err := api.Snapshot(t.Context(), vs)
		require.NoError(t, err)
		return taken.NamespaceLabels[meta.LabelEnvironment]
	}
	require.Equal(t, "production", environmentIn("shop"))
	require.Empty(t, environmentIn("missing"))
	require.Equal(t, 2, lists)
	isSeen = true
	require.Equal(t, "production", environmentIn("shop"))
	require.Equal(t, 2, lists, "what is in the cache is not asked for")
}

// The cause of a failed write may be gone when another rollout ends. So the VectorSidecar does not wait for its backoff
// while rollout slots are free.
func TestReconcile_ResumesFailedSidecarWhenSlotIsFree(t *testing.T) {
	answer, isOver, tried := apierrors.NewInternalError(errors.New(`no answer: failed calling webhook "a"`)), false, map[string]int{}
	funcs := wroteTo{}.funcs(func(object client.Object) error {
		if _, is := object.(*metav1.PartialObjectMetadata); !is {
			return nil
		}
		if tried[object.GetName()]++; object.GetName() == "cart" || isOver {
			return nil
		}
		return answer
	})
	cart, one, two := deployment("cart", "good"), deployment("one", "bad"), deployment("two", "bad")
	for _, object := range []client.Object{cart, one, two} {
		object.SetUID(types.UID(object.GetName()))
	}
	api := newMemoryAPI(t, funcs, pacing("maxConcurrent: 1"), sidecar("bad", "bad").Build(), sidecar("good", "good").Build(), cart, one, two)
	for _, name := range []string{"bad", "good"} {
		_, err := api.once(t, name)
		require.NoError(t, err)
	}
	_, err := api.once(t, "bad")
	require.ErrorContains(t, err, answer.Error())
	_, err = api.once(t, "good")
	require.NoError(t, err)
	api.finishWaiting()
	require.Equal(t, map[string]int{"one": 1, "cart": 1}, tried)

	isOver = true
	require.NoError(t, api.Delete(t.Context(), cart))
	api.snapshots.workloads.Delete(api.snapshots.workloads.Get("Deployment", "shop", "cart"))
	_, err = api.once(t, "good")
	require.NoError(t, err)
	require.Equal(t, 1, api.waiting.Len())
	request, _ := api.waiting.Get()
	_, err = api.Reconcile(t.Context(), request)
	require.ErrorContains(t, err, answer.Error(), "that one has its own backoff")
	require.Equal(t, map[string]int{"one": 1, "cart": 1, "two": 1}, tried)
}

// Rejected writes release their rollout slots. That alone does not start a retry of these writes.
func TestReconcile_AvoidsImmediateRetryOfRejectedWrites(t *testing.T) {
	for name, answer := range map[string]error{
		"by a policy":            apierrors.NewForbidden(schema.GroupResource{Resource: "deployments"}, "app", errors.New("it is frozen")),
		"by validation":          apierrors.NewInvalid(schema.GroupKind{Kind: "Deployment"}, "app", nil),
		"by no answer of anyone": apierrors.NewInternalError(errors.New(`no answer: failed calling webhook "a"`)),
	} {
		for _, places := range []string{"maxConcurrent: 1", "maxConcurrent: 3", "maxConcurrent: 100"} {
			t.Run(name+", with "+places, func(t *testing.T) {
				api, tried := refusing(t, nil, answer)
				require.NoError(t, api.Update(t.Context(), pacing(places)))
				for passes := 1; len(tried) < 8; passes++ {
					require.LessOrEqual(t, passes, 8)
					result, err := api.once(t, "logs")
					require.True(t, err != nil || result.RequeueAfter == state.AtOnce || len(tried) == 8, "it waits for nothing else")
					require.Zero(t, api.waiting.Len(), "the pass itself says when the next one comes")
				}
			})
		}
	}
}

// After a panic in a reconcile, the VectorSidecar keeps no unused rollout slots, and other VectorSidecars do not wait
// for its report.
func TestReconcile_ReleasesUnusedSlotsAfterPanic(t *testing.T) {
	for name, test := range map[string]struct {
		hasReported bool
		addBug      func(api *memoryAPI)
	}{
		"before the first report":     {false, func(api *memoryAPI) { api.memory = nil }},
		"while the snapshot is taken": {true, func(api *memoryAPI) { api.snapshots = &snapshots{sidecars: api.snapshots.sidecars} }},
		"with a slot, before a write": {true, func(api *memoryAPI) { api.finalizer = nil }},
	} {
		t.Run(name, func(t *testing.T) {
			wrote := wroteTo{}
			funcs := wrote.funcs(nil)
			one, cart := deployment("one", "bad"), deployment("cart", "good")
			one.SetUID("one")
			cart.SetUID("cart")
			api := newMemoryAPI(t, funcs, pacing("maxConcurrent: 1"), sidecar("bad", "bad").Build(), sidecar("good", "good").Build(), one, cart)
			if test.hasReported {
				_, err := api.once(t, "bad")
				require.NoError(t, err)
			}
			_, err := api.once(t, "good")
			require.NoError(t, err)
			api.finishWaiting()

			correct := *api.VectorSidecarReconciler
			test.addBug(api)
			require.Panics(t, func() { _, _ = api.once(t, "bad") })
			*api.VectorSidecarReconciler = correct

			require.Equal(t, 1, api.waiting.Len(), "the free slot is announced")
			request, _ := api.waiting.Get()
			require.Equal(t, "good", request.Name)
			wrote["Deployment"] = 0
			_, err = api.Reconcile(t.Context(), request)
			require.NoError(t, err)
			require.Equal(t, 1, wrote["Deployment"])
		})
	}
}

// finishWaiting takes the requested reconciles from the queue, without making them.
func (a *memoryAPI) finishWaiting() {
	for a.waiting.Len() > 0 {
		request, _ := a.waiting.Get()
		a.waiting.Done(request)
	}
}
