// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

func TestKindNamed_AcceptsKubectlNames(t *testing.T) {
	for _, name := range []string{"deployment", "Deployment", "deployments", "deploy", "deployment.apps", "deployments.apps"} {
		require.Same(t, Default(), KindNamed(name), name)
	}
	for _, name := range []string{"", "pod", "deploys", "deployments.batch", "replicaset"} {
		require.Nil(t, KindNamed(name), name)
	}
	for name, kind := range map[string]*Kind{"sts": &statefulSets, "daemonset": &daemonSets, "cj": &cronJobs, "cronjobs.batch": &cronJobs, "job": &jobs} {
		require.Same(t, kind, KindNamed(name), name)
	}
	require.Same(t, Default(), KindByName("Deployment"))
	require.Nil(t, KindByName("deployment"), "manifests are exact")
}

func TestToObject_RejectsObjectsOfOtherKinds(t *testing.T) {
	for name, object := range map[string]any{"nothing": nil, "no pointer": appsv1.Deployment{}, "a nil one": (*appsv1.Deployment)(nil), "a pod": &corev1.Pod{}} {
		_, isOne := ToObject(object)
		require.False(t, isOne, name)
	}
	require.Nil(t, KindForList(&corev1.PodList{}))
}

// For each kind, the adapter reads the objects and lists that it creates.
func TestKind_ReadsItsObjectsAndLists(t *testing.T) {
	for _, kind := range Kinds() {
		content, isOne := Read(kind.New())
		require.True(t, isOne, kind.Kind)
		require.Same(t, kind, content.Kind)
		require.NotNil(t, content.Template)
		require.Same(t, kind, KindForList(kind.NewList()))
		require.Empty(t, Items(kind.NewList()))
	}
}

// The returned items are pointers into the list, because a list may have thousands of large objects.
func TestItems_ReturnsItemsWithoutCopy(t *testing.T) {
	list := &appsv1.DeploymentList{Items: []appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Name: "cart", Namespace: "shop", UID: "u"}}}}

	items := Items(list)

	require.Len(t, items, 1)
	require.Same(t, &list.Items[0], items[0])
	require.Equal(t, Ref{Kind: "Deployment", Namespace: "shop", Name: "cart", UID: "u"}, NewRef(items[0]))
}

// For a preview, a workload without a status gets that of a finished rollout. An existing status stays.
func TestSetFinishedStatus_AddsMissingStatus(t *testing.T) {
	deployment := &appsv1.Deployment{Spec: appsv1.DeploymentSpec{Replicas: ptr.To[int32](3)}}
	deployment.Generation = 2

	SetFinishedStatus(deployment)

	content, _ := Read(deployment)
	require.Equal(t, RolloutComplete, content.Rollout)
	require.True(t, content.Observed)
	require.EqualValues(t, 3, content.Pods)

	stuck := &appsv1.Deployment{Status: appsv1.DeploymentStatus{Replicas: 1}}
	SetFinishedStatus(stuck)
	require.Zero(t, stuck.Status.AvailableReplicas, "a status that there is stays")
}
