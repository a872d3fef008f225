// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// stray returns a companion that was created long ago for a VectorSidecar.
func stray(name, sidecar, manager string) *corev1.ConfigMap {
	object := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, CreationTimestamp: metav1.NewTime(time.Now().Add(-24 * time.Hour)),
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1",
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(`{"f:data":{}}`),
		}},
	}}
	companion.Label(object, sidecar)
	companion.Mark(object)
	return object
}

// The cache contains ConfigMaps that seem to be unreferenced companions. Only those are deleted that the API server
// still has, that no revision mounts, and that no VectorSidecar owns.
func TestDeleteCompanions_ConfirmsWithLiveObjects(t *testing.T) {
	known := runtime.NewScheme()
	require.NoError(t, errors.Join(clientgoscheme.AddToScheme(known), v1alpha1.AddToScheme(known)))
	cached := []client.Object{
		stray("late", "logs", meta.Operator),
		stray("edited", "logs", "kubectl-edit"),
		stray("mounted", "logs", meta.Operator),
		stray("new", "fresh", meta.Operator),
		stray("gone", "logs", meta.Operator),
	}
	revision := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "cart-1"}}
	revision.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "config", VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "mounted"}},
	}}}
	unheardOf := &v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "fresh"}}
	live := fake.NewClientBuilder().WithScheme(known).WithReturnManagedFields().WithObjects(append(cached[:4:4], revision, unheardOf)...).Build()
	cache := fake.NewClientBuilder().WithScheme(known).WithObjects(cached...).Build()
	paged, woken := livelist.NewPager().Client(live), make(chan types.NamespacedName, 1)
	uses := companionuse.New(companionuse.Options{
		Live: paged, Kinds: workload.Kinds(), Clock: time.Now,
		Wake: func(name types.NamespacedName) { woken <- name },
	})
	go func() { _ = uses.Start(t.Context()) }()
	r := New(Options{Cached: cache, Sidecars: sidecarcache.New(cache, paged, "", false), Live: paged, Workloads: workloadcache.New(), Writer: apply.New(live), Uses: uses, Metrics: telemetry.NewMetrics("1", time.Now), Clock: time.Now})

	require.Equal(t, finished, r.deleteCompanions(t.Context()))
	require.Equal(t, types.NamespacedName{Namespace: "shop"}, <-woken)
	require.Equal(t, finished, r.deleteCompanions(t.Context()))

	var left corev1.ConfigMapList
	require.NoError(t, live.List(t.Context(), &left))
	var names []string
	for i := range left.Items {
		names = append(names, left.Items[i].Name)
	}
	require.ElementsMatch(t, []string{"edited", "mounted", "new"}, names)
}
