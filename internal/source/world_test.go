// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package source

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Lists of objects from files are restricted by namespace, labels and field manager, as lists of a cluster are.
func TestObjectOverlay_ListsObjectsAsCluster(t *testing.T) {
	w := NewObjectOverlay(nil)
	carrying := objects.NewDeployment("carrying", "shop").Build()
	carrying.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "vectorsidecar/logs", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
		FieldsV1: metav1.NewFieldsV1(`{"f:metadata":{"f:annotations":{"f:x":{}}}}`),
	}}
	for _, object := range []client.Object{
		objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build(), carrying,
		objects.NewDeployment("cart", "warehouse").Labeled("logs", "vector").Build(),
		objects.NewConfigMap("a", "shop", "k", "v"),
	} {
		w.Put(object)
	}
	list := func(options ...client.ListOption) []string {
		var found appsv1.DeploymentList
		require.NoError(t, w.List(t.Context(), &found, options...))
		var names []string
		for i := range found.Items {
			names = append(names, found.Items[i].Namespace+"/"+found.Items[i].Name)
		}
		return names
	}

	require.Equal(t, []string{"shop/carrying", "shop/cart", "warehouse/cart"}, list())
	require.Equal(t, []string{"shop/cart"}, list(client.InNamespace("shop"), client.MatchingLabels{"logs": "vector"}))
	require.Equal(t, []string{"shop/carrying"}, list(client.MatchingFields{IndexManager: "vectorsidecar/logs"}))
	require.NoError(t, w.Get(t.Context(), client.ObjectKey{Namespace: "shop", Name: "a"}, &corev1.ConfigMap{}))
	require.True(t, apierrors.IsNotFound(w.Get(t.Context(), client.ObjectKey{Namespace: "warehouse", Name: "a"}, &corev1.ConfigMap{})))
	require.Error(t, w.Get(t.Context(), client.ObjectKey{Name: "a"}, &corev1.Secret{}), "what it has none of is no \"not found\"")
}

// Reading the objects of one namespace takes the same time however many other namespaces exist, because a plan of the
// cluster repeats it for each VectorSidecar.
func TestObjectOverlay_ListsOneNamespaceInConstantTime(t *testing.T) {
	allocations := func(namespaces int) float64 {
		w := NewObjectOverlay(nil)
		for n := range namespaces {
			for m := range 5 {
				namespace, name := fmt.Sprintf("ns-%d", n), fmt.Sprintf("cart-%d", m)
				w.Put(objects.NewDeployment(name, namespace).Labeled("logs", "vector").Build())
				w.Put(objects.NewVectorSidecar(name, namespace).Selecting("logs", "vector").Build())
				w.Put(objects.NewConfigMap(name, namespace, "k", "v"))
			}
		}
		return testing.AllocsPerRun(10, func() {
			for _, list := range []client.ObjectList{&appsv1.DeploymentList{}, &v1alpha1.VectorSidecarList{}, &corev1.ConfigMapList{}} {
				require.NoError(t, w.List(t.Context(), list, client.InNamespace("ns-0")))
				require.Equal(t, 5, apimeta.LenList(list))
			}
		})
	}
	require.InDelta(t, allocations(1), allocations(200), 1)
}

// Workloads are sorted by kind, in whatever order they were added.
func TestObjectOverlay_SortsWorkloadsByKind(t *testing.T) {
	for range 10 {
		w := NewObjectOverlay(nil)
		for _, kind := range []string{"Deployment", "CronJob", "StatefulSet"} {
			w.Put(objects.NewWorkload(kind, "cart", "shop", nil))
		}
		var kinds []string
		for _, object := range w.Workloads() {
			kinds = append(kinds, workload.NewRef(object).Kind)
		}
		require.Equal(t, []string{"CronJob", "Deployment", "StatefulSet"}, kinds)
	}
}

// The oldest VectorSidecar comes first, and VectorSidecars of equal age are sorted by name.
func TestObjectOverlay_SortsVectorSidecarsByAge(t *testing.T) {
	w := NewObjectOverlay(nil)
	for name, age := range map[string]time.Duration{"young": 2 * time.Minute, "old": time.Minute, "as-young": 2 * time.Minute} {
		sidecar := objects.NewVectorSidecar(name, "shop").Build()
		sidecar.CreationTimestamp = metav1.NewTime(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).Add(age))
		w.Put(sidecar)
	}
	var names []string
	for _, sidecar := range w.Sidecars() {
		names = append(names, sidecar.Name)
	}
	require.Equal(t, []string{"old", "as-young", "young"}, names)
}
