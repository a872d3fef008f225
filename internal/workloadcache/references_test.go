// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// findRunner is an Argo Rollout that runs the pods of a Deployment, in the middle of its steps.
func runnerFor(deployment string, seen string) *unstructured.Unstructured {
	rollout := asRollout(&appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: "cart", Namespace: "shop", UID: "2", ResourceVersion: "20", Generation: 1, Labels: map[string]string{"logs": "vector"},
	}}, map[string]any{
		"observedGeneration": "1", "workloadObservedGeneration": seen, "phase": "Paused", "stableRS": "a", "currentPodHash": "b",
		"replicas": int64(2), "updatedReplicas": int64(1), "availableReplicas": int64(2),
	})
	rollout.Object["spec"] = map[string]any{"workloadRef": map[string]any{"kind": "Deployment", "name": deployment}}
	return rollout
}

func deploymentNamed(name string) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "shop", UID: "1", ResourceVersion: "10", Generation: 3},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To[int32](0)},
		Status:     appsv1.DeploymentStatus{ObservedGeneration: 3},
	}
}

// An Argo Rollout with a workloadRef runs the pods of a Deployment. The state of the Rollout is used for that
// Deployment.
func TestCache_UsesStateOfRolloutForReferencedDeployment(t *testing.T) {
	for name, order := range map[string]func(c *Cache, of ...*Record){
		"the workload first":  func(c *Cache, of ...*Record) { c.Put(of[0]); c.Put(of[1]) },
		"the other one first": func(c *Cache, of ...*Record) { c.Put(of[1]); c.Put(of[0]) },
	} {
		t.Run(name, func(t *testing.T) {
			c := New()
			order(c, c.Reduce(deploymentNamed("web")), c.Reduce(runnerFor("web", "3")))
			web := c.Get("Deployment", "shop", "web")
			require.Equal(t, workload.PodsNotReplaced, web.Rollout())
			require.True(t, web.State().IsBetween)
			require.Equal(t, "10", web.ResourceVersion(), "it is written for its own version")
			require.EqualValues(t, 3, web.Generation())
			require.Equal(t, web.State(), web.View().State)
			require.Same(t, web, c.GetReferred(c.Get("Rollout", "shop", "cart")))

			changed := c.Put(c.Reduce(runnerFor("web", "2")))
			require.Len(t, changed, 2)
			require.Equal(t, workload.RolloutProgressing, changed[1].Rollout(), "its last change has not been seen yet")

			changed = c.Put(c.Reduce(runnerFor("other", "3")))
			require.Len(t, changed, 2)
			require.Nil(t, changed[1].Runner())
			require.Equal(t, workload.RolloutComplete, c.Get("Deployment", "shop", "web").Rollout(), "it has its own state again")

			c.Put(c.Reduce(runnerFor("web", "3")))
			require.NotNil(t, c.Get("Deployment", "shop", "web").Runner())
			c.Delete(c.Get("Rollout", "shop", "cart"))
			require.Nil(t, c.Get("Deployment", "shop", "web").Runner())
		})
	}
}

// An Argo Rollout runs the pods of a Deployment. The labels of the Rollout decide which VectorSidecar selects it.
func TestIsSelectedBy_UsesLabelsOfArgoRollout(t *testing.T) {
	c := New()
	c.Put(c.Reduce(deploymentNamed("web")))
	c.Put(c.Reduce(runnerFor("web", "3")))
	web := c.Get("Deployment", "shop", "web")
	selector := func(kinds ...v1alpha1.WorkloadKind) workload.Selector {
		selector, err := workload.NewSelector(&v1alpha1.VectorSidecar{ObjectMeta: metav1.ObjectMeta{Namespace: "shop"}, Spec: v1alpha1.VectorSidecarSpec{
			Selector: metav1.LabelSelector{MatchLabels: map[string]string{"logs": "vector"}}, Workloads: kinds,
		}})
		require.NoError(t, err)
		return selector
	}
	require.True(t, web.IsSelectedBy(selector("Deployment", "Rollout")))
	require.False(t, web.IsSelectedBy(selector("Rollout")), "who may patch Rollouts alone must not have Deployments patched")
	require.False(t, web.IsSelectedBy(selector("Deployment")), "its own labels are others")
}

func TestRemoveKind_RemovesWorkloadsOfKind(t *testing.T) {
	c := New()
	c.Put(c.Reduce(deploymentNamed("web")))
	late := c.Reduce(runnerFor("web", "3"))
	c.Put(late)
	kind := workload.KindByName("Rollout")
	lost, changed := c.RemoveKind(kind)
	require.Len(t, lost, 1)
	require.Len(t, changed, 2)
	require.Nil(t, c.Get("Rollout", "shop", "cart"))
	require.Nil(t, c.Get("Deployment", "shop", "web").Runner())
	require.False(t, c.HasKind(kind))
	c.Put(late)
	require.Nil(t, c.Get("Rollout", "shop", "cart"), "what comes late is not taken")
	c.AddKind(kind)
	c.Put(late)
	require.NotNil(t, c.Get("Rollout", "shop", "cart"))
}
