// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// A Deployment that exceeded its progress deadline returns to an existing ReplicaSet. Its status keeps the failure of
// the previous template until one more pod runs. The operator does not report the current template as failed.
func TestRollout_IgnoresFailureOfPreviousTemplate(t *testing.T) {
	t.Parallel()
	namespace := world.Namespace(t)
	app := objects.NewDeployment("cart", namespace).WithReplicas(1).WithProgressDeadline(2).Build()
	template := func(d *appsv1.Deployment) *corev1.PodSpec { return &d.Spec.Template.Spec }
	world.Create(t, app)
	harness.Until(t, world, app, "its first rollout", isRolledOut)
	harness.Change(t, world, app, func(d *appsv1.Deployment) {
		template(d).InitContainers = []corev1.Container{{Name: "first", Image: crashes}}
	})
	hasFailed := func(d *appsv1.Deployment) bool { return workload.ReadState(d).Rollout == workload.RolloutFailed }
	harness.Until(t, world, app, "its deadline to pass", hasFailed)
	clients, err := kubernetes.NewForConfig(world.Config)
	require.NoError(t, err)
	stream, err := clients.AppsV1().Deployments(namespace).Watch(t.Context(), metav1.ListOptions{ResourceVersion: app.ResourceVersion})
	require.NoError(t, err)
	defer stream.Stop()
	cache := workloadcache.New()
	before := cache.Reduce(app)

	harness.Change(t, world, app, func(d *appsv1.Deployment) { template(d).InitContainers = nil })

	leftBehind := 0
	for event := range stream.ResultChan() {
		d, isOne := event.Object.(*appsv1.Deployment)
		require.True(t, isOne)
		record := cache.Reduce(d)
		record.CarryOver(before, time.Now())
		before = record
		if len(template(d).InitContainers) > 0 || d.Status.ObservedGeneration < d.Generation {
			continue
		}
		require.NotEqual(t, workload.RolloutFailed, record.Rollout())
		if hasFailed(d) {
			leftBehind++
		}
		var sets appsv1.ReplicaSetList
		require.NoError(t, world.Client.List(t.Context(), &sets, client.InNamespace(namespace)))
		var all []metav1.Object
		for i := range sets.Items {
			all = append(all, &sets.Items[i])
		}
		newest, isSet := workload.KindByName("Deployment").Revisions.Newest(d, all).(*appsv1.ReplicaSet)
		require.True(t, isSet)
		require.Empty(t, newest.Spec.Template.Spec.InitContainers)
		if record.Rollout() == workload.RolloutComplete {
			break
		}
	}
	t.Logf("%d statuses that have seen the new template say that the deadline has passed", leftBehind)
}
