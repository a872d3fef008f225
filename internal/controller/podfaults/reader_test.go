// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package podfaults

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A new annotation increases the generation of a Deployment. Until its controller has observed that generation, the
// pods keep the fault that was read before.
func TestReader_KeepsFaultWhileControllerIsBehind(t *testing.T) {
	const manager = "vectorsidecar-logs"
	deployment := objects.NewDeployment("cart", "shop").Labeled("app", "cart").Build()
	deployment.UID, deployment.Generation, deployment.Status.ObservedGeneration = "cart", 1, 1
	owned := func(object workload.Object, kind string) metav1.OwnerReference {
		return *metav1.NewControllerRef(object, appsv1.SchemeGroupVersion.WithKind(kind))
	}
	set := &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Name: "cart-1", Namespace: "shop", UID: "set", Labels: deployment.Spec.Template.Labels,
		OwnerReferences: []metav1.OwnerReference{owned(deployment, "Deployment")}}}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Name: "cart-1-x", Namespace: "shop", Labels: deployment.Spec.Template.Labels,
			OwnerReferences: []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: set.Name, UID: set.UID, Controller: ptr.To(true)}}},
		Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "vector"}}},
		Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{{Name: "vector", State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}}}}},
	}
	scheme := runtime.NewScheme()
	require.NoError(t, clientgoscheme.AddToScheme(scheme))
	api := fake.NewClientBuilder().WithScheme(scheme).WithObjects(deployment, set, pod).WithStatusSubresource(deployment).Build()
	now := time.Now()
	clock := func() time.Time { return now }
	known := state.New(clock).GetOrCreate(types.NamespacedName{Namespace: "shop", Name: "logs"})
	reader := NewReader(livelist.NewPager().Client(api), nil, clock)
	record := func(generation int64, template uint64) *workloadcache.Record {
		return workloadcache.NewRecordWithView(workload.View{
			Ref:        workload.Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "cart"},
			State:      workload.State{Rollout: workload.RolloutProgressing, Generation: generation, Template: template, Availability: workload.Availability{StateSince: now.Add(-time.Minute)}},
			ObjectView: workload.ObjectView{Owned: map[string]workload.OwnedFields{manager: {Containers: []string{"vector"}}}},
		})
	}
	read := func(of *workloadcache.Record) workload.Fault {
		now = now.Add(time.Minute)
		return reader.FindFaults(t.Context(), known, manager, nil, []*workloadcache.Record{of})["cart"]
	}
	require.True(t, read(record(1, 1)).IsSidecarFault)

	deployment.Generation = 2
	require.NoError(t, api.Update(t.Context(), deployment))
	require.True(t, read(record(2, 1)).IsSidecarFault, "of the same template")
	require.Empty(t, read(record(2, 2)).Reason, "of another template")

	deployment.Status.ObservedGeneration = 2
	require.NoError(t, api.Status().Update(t.Context(), deployment))
	require.True(t, read(record(2, 2)).IsSidecarFault)
}
