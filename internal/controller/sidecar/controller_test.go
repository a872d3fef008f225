// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// wroteTo counts writes by kind.
type wroteTo map[string]int

// funcs counts writes. A write fails with the error that the given function returns for its object.
func (w wroteTo) funcs(fails func(object client.Object) error) interceptor.Funcs {
	var mu sync.Mutex // A reconcile writes several workloads concurrently.
	note := func(object client.Object) error {
		mu.Lock()
		defer mu.Unlock()
		kind := "Deployment"
		switch object.(type) {
		case *corev1.ConfigMap:
			if kind = "ConfigMap"; object.GetNamespace() == values.Namespace {
				kind = "record" // It records the published revision.
			}
		case *v1alpha1.VectorSidecar, *v1alpha1.ClusterVectorSidecar:
			kind = "VectorSidecar"
		case *appsv1.ControllerRevision:
			kind = "ControllerRevision"
		}
		w[kind]++
		if fails == nil {
			return nil
		}
		return fails(object)
	}
	return interceptor.Funcs{
		Create: func(ctx context.Context, on client.WithWatch, object client.Object, options ...client.CreateOption) error {
			if err := note(object); err != nil {
				return err
			}
			return on.Create(ctx, object, options...)
		},
		Patch: func(ctx context.Context, on client.WithWatch, object client.Object, patch client.Patch, options ...client.PatchOption) error {
			if err := note(object); err != nil {
				return err
			}
			if reply, is := object.(*metav1.PartialObjectMetadata); is {
				// The in-memory client cannot apply to a workload if only its metadata is requested.
				reply.Generation, reply.ResourceVersion = 2, "2000"
				return nil
			}
			return on.Patch(ctx, object, patch, options...)
		},
		Apply: func(ctx context.Context, on client.WithWatch, object runtime.ApplyConfiguration, options ...client.ApplyOption) error {
			if err := note(&appsv1.Deployment{}); err != nil {
				return err
			}
			return on.Apply(ctx, object, options...)
		},
		SubResourcePatch: func(ctx context.Context, on client.Client, resource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
			mu.Lock()
			w["status"]++
			mu.Unlock()
			return on.SubResource(resource).Patch(ctx, object, patch, options...)
		},
	}
}

var refused = apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "one", nil)

func TestReconcile_DropsStateOfDeletedVectorSidecar(t *testing.T) {
	api := newMemoryAPI(t, interceptor.Funcs{})
	api.memory.GetOrCreate(logsOfShop).AddReference(types.NamespacedName{Namespace: "shop", Name: "shipping"})

	result, err := api.once(t, "logs")

	require.NoError(t, err)
	require.Zero(t, result)
	require.Empty(t, api.memory.Referrers(types.NamespacedName{Namespace: "shop", Name: "shipping"}))
}

// A reconcile writes the finalizer before the first object that a deletion must remove, and a ConfigMap before the pods
// that mount it.
func TestReconcile_WritesDecisionInOrder(t *testing.T) {
	var order []string
	wrote := wroteTo{}
	funcs := wrote.funcs(func(object client.Object) error {
		switch object.(type) {
		case *corev1.ConfigMap:
			if object.GetNamespace() == values.Namespace {
				return nil // It records the published revision.
			}
			order = append(order, "configuration")
		case *v1alpha1.VectorSidecar:
			order = append(order, "finalizer")
		default:
			order = append(order, "workload")
		}
		return nil
	})
	api := newMemoryAPI(t, funcs, sidecar("logs", "vector").Build(), deployment("cart", "vector"))

	_, err := api.once(t, "logs")

	require.NoError(t, err)
	require.Equal(t, []string{"finalizer", "configuration", "workload"}, order)
	var after v1alpha1.VectorSidecar
	require.NoError(t, api.Get(t.Context(), logsOfShop, &after))
	require.Contains(t, after.Finalizers, meta.Finalizer)
	require.EqualValues(t, 1, after.Status.MatchedDeployments)

	_, err = api.once(t, "logs")
	require.NoError(t, err)
	require.Equal(t, 1, wrote["Deployment"], "the cache does not show the write yet")
	require.Equal(t, 1, wrote["ConfigMap"])
}

// If the ConfigMap of a sidecar cannot be written, the workload is not written, because its pods would not start.
func TestReconcile_SkipsWorkloadsWithoutConfiguration(t *testing.T) {
	wrote := wroteTo{}
	funcs := wrote.funcs(func(object client.Object) error {
		if _, is := object.(*corev1.ConfigMap); is {
			return refused
		}
		return nil
	})
	api := newMemoryAPI(t, funcs, sidecar("logs", "vector").Build(), deployment("cart", "vector"))

	_, err := api.once(t, "logs")

	require.Zero(t, wrote["Deployment"])
	var after v1alpha1.VectorSidecar
	require.NoError(t, api.Get(t.Context(), logsOfShop, &after))
	told := apimeta.FindStatusCondition(after.Status.Conditions, meta.ConditionError)
	require.NotNil(t, told)
	require.Equal(t, metav1.ConditionTrue, told.Status)
	require.True(t, err != nil || told.Reason == meta.ReasonApplyRejected, "it is tried again, or a person has to act")
}

// If a read of an object fails, the reconcile writes the reason to the status, and nothing else.
func TestReconcile_WritesOnlyStatusAfterReadFailure(t *testing.T) {
	wrote := wroteTo{}
	funcs := wrote.funcs(nil)
	funcs.Get = func(ctx context.Context, on client.WithWatch, key client.ObjectKey, into client.Object, options ...client.GetOption) error {
		if _, is := into.(*corev1.ConfigMap); is && key.Name == "shipping" {
			return refused
		}
		return on.Get(ctx, key, into, options...)
	}
	api := newMemoryAPI(t, funcs, sidecar("logs", "vector").WithConfigMap("shipping", "").Build(), deployment("cart", "vector"))

	api.memory.GetOrCreate(logsOfShop).SetRollout(&v1alpha1.RolloutStatus{Revision: "begun", State: v1alpha1.RolloutProgressing})
	_, err := api.once(t, "logs")

	require.ErrorIs(t, err, refused)
	require.Equal(t, wroteTo{"status": 1, "record": 1}, wrote, "why it failed")
	var after v1alpha1.VectorSidecar
	require.NoError(t, api.Get(t.Context(), logsOfShop, &after))
	require.Contains(t, apimeta.FindStatusCondition(after.Status.Conditions, meta.ConditionError).Message, refused.Error())
	require.Equal(t, "begun", after.Status.Rollout.Revision, "what an earlier pass could not write is on record before anything is written for it")
	require.Contains(t, api.memory.Referrers(types.NamespacedName{Namespace: "shop", Name: "shipping"}), logsOfShop, "it is looked at again when that changes")
}

// After a failed status write, the next reconcile writes the whole status.
func TestReconcile_WritesWholeStatusAfterFailedWrite(t *testing.T) {
	fails := true
	funcs := interceptor.Funcs{SubResourcePatch: func(ctx context.Context, on client.Client, resource string, object client.Object, patch client.Patch, options ...client.SubResourcePatchOption) error {
		if fails {
			return apierrors.NewTimeoutError("the API server is busy", 1)
		}
		return on.SubResource(resource).Patch(ctx, object, patch, options...)
	}}
	api := newMemoryAPI(t, funcs, sidecar("logs", "vector").Build())

	_, err := api.once(t, "logs")
	require.True(t, apierrors.IsTimeout(err), "%v", err)
	require.True(t, api.memory.GetOrCreate(logsOfShop).IsStatusUnknown())

	fails = false
	_, err = api.once(t, "logs")
	require.NoError(t, err)
	require.False(t, api.memory.GetOrCreate(logsOfShop).IsStatusUnknown())
	var after v1alpha1.VectorSidecar
	require.NoError(t, api.Get(t.Context(), logsOfShop, &after))
	require.NotEmpty(t, after.Status.Conditions)
}

// If a status write fails, the progress of the rollout stays in memory. Otherwise, a revert from a revision that has
// just finished would return to that same revision.
func TestStatusWriter_KeepsRolloutAfterFailedWrite(t *testing.T) {
	api := newMemoryAPI(t, interceptor.Funcs{SubResourcePatch: func(context.Context, client.Client, string, client.Object, client.Patch, ...client.SubResourcePatchOption) error {
		return apierrors.NewTimeoutError("the API server is busy", 1)
	}}, sidecar("logs", "vector").Build())
	var vs v1alpha1.VectorSidecar
	require.NoError(t, api.Get(t.Context(), logsOfShop, &vs))
	done, known := v1alpha1.RolloutStatus{Revision: "two", Previous: "one", StartTime: &metav1.Time{Time: time.Unix(1000, 0)}}, api.memory.GetOrCreate(logsOfShop)
	done.CompletionTime = &metav1.Time{Time: time.Unix(1001, 0)}
	known.SetRollout(&done)

	_, err := api.statuses.write(t.Context(), known, &vs, status.Facts{Decision: &decision.Decision{}, Rollout: &done}, nil)
	require.True(t, apierrors.IsTimeout(err), "%v", err)
	require.Equal(t, &done, known.Rollout(&vs.Status))
}

// companionOf returns a companion of a VectorSidecar in namespace shop.
func companionOf(name, sidecar string) *corev1.ConfigMap {
	object := objects.NewConfigMap(name, "shop", "vector.yaml", "{}")
	companion.Label(object, sidecar)
	companion.Mark(object)
	return object
}

// The finalizer of a deleted VectorSidecar is removed when no workload has its sidecar. Its cached state is then
// dropped.
func TestReconcile_ReleasesDeletedVectorSidecar(t *testing.T) {
	held := sidecar("logs", "vector").Build()
	held.Finalizers = []string{meta.Finalizer}
	api := newMemoryAPI(t, interceptor.Funcs{}, held, deployment("cart", "vector"), companionOf("logs-vector-1", "logs"))
	require.NoError(t, api.Delete(t.Context(), held))

	_, err := api.once(t, "logs")

	require.NoError(t, err)
	require.True(t, apierrors.IsNotFound(api.Get(t.Context(), logsOfShop, &v1alpha1.VectorSidecar{})))
	require.True(t, apierrors.IsNotFound(api.Get(t.Context(), types.NamespacedName{Namespace: "shop", Name: "logs-vector-1"}, &corev1.ConfigMap{})), "what was made for it goes with it")
	api.memory.GetOrCreate(logsOfShop).RequestResync()
	_, err = api.once(t, "logs")
	require.NoError(t, err)
	require.False(t, api.memory.Peek(logsOfShop).IsResyncDue())
}
