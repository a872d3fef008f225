// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// hasMessage reports whether conditions contain a message about an error that is retried.
func hasMessage(conditions []metav1.Condition, what string) bool {
	ready := apimeta.FindStatusCondition(conditions, meta.ConditionReady)
	isTold := ready != nil && ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, what) && strings.Contains(ready.Message, harness.Locked)
	return isTold && apimeta.IsStatusConditionTrue(conditions, meta.ConditionReconciling) && apimeta.IsStatusConditionTrue(conditions, meta.ConditionError)
}

// The API server rejects the operator's finalizer. The ClusterVectorSidecar reports the error, and nothing is injected.
func TestClusterVectorSidecar_ReportsRejectedFinalizer(t *testing.T) {
	cluster := clusterOf(t)
	way := &harness.Answers{Path: "/clustervectorsidecars/" + cluster.Name, With: harness.AnswersFor("clustervectorsidecars")["refusal"]}
	way.IsOn.Store(true)
	runsThrough(t, way)
	cart := labeled("cart", world.Namespace(t, "team", cluster.Name))
	world.Create(t, cart, cluster)

	harness.Until(t, world, cluster, "the reported message", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return hasMessage(c.Status.Conditions, "adding the finalizer of ")
	})
	world.Get(t, cart)
	require.True(t, isClean(cart))

	way.IsOn.Store(false)
	harness.Until(t, world, cluster, "its sidecar", injectedIn(1, 1))
}

// The finalizer of a deleted VectorSidecar cannot be removed. The status reports the reason.
func TestVectorSidecar_ReportsFailureToRemoveFinalizer(t *testing.T) {
	answers := harness.AnswersFor("vectorsidecars")
	answers["no permission to look"] = apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "", errors.New(harness.Locked))
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			way, said := &harness.Answers{Path: "/namespaces/" + namespace + "/vectorsidecars/logs", With: answer}, "removing the finalizer of "
			if name == "no permission to look" {
				way.Path, way.IsRead, said = "/namespaces/"+namespace+"/deployments", true, "finding workloads that still have the sidecar: "
			}
			runsThrough(t, way)
			cart := objects.NewDeployment("cart", namespace).WithReplicas(0).Labeled("logs", "vector").Build()
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
			world.Create(t, cart, vs)
			harness.Until(t, world, vs, "its sidecar", isUpToDate)

			way.IsOn.Store(true)
			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, vs, "the reported message", func(vs *v1alpha1.VectorSidecar) bool { return hasMessage(vs.Status.Conditions, said) })
			tried, before := way.Count.Load(), vs.ResourceVersion
			require.LessOrEqual(t, tried, int32(14))
			world.Get(t, cart)
			require.True(t, isClean(cart))
			if name == "refusal" { // The operator of the next test takes it from here.
				harness.Eventually(t, "another attempt", func() bool { return way.Count.Load() > tried })
				world.Get(t, vs)
				require.Equal(t, before, vs.ResourceVersion, "it is said once")
				return
			}

			way.IsOn.Store(false)
			harness.Eventually(t, "the deletion of the VectorSidecar", func() bool { return isGone(t, vs) })
		})
	}
}

// The API server rejects the removal of the finalizer. The status reports the reason.
func TestClusterVectorSidecar_ReportsBlockedDeletion(t *testing.T) {
	cluster := clusterOf(t)
	way := &harness.Answers{Path: "/clustervectorsidecars/" + cluster.Name, With: harness.AnswersFor("clustervectorsidecars")["refusal"]}
	runsThrough(t, way)
	cart := labeled("cart", world.Namespace(t, "team", cluster.Name))
	world.Create(t, cart, cluster)
	harness.Until(t, world, cluster, "its sidecar", injectedIn(1, 1))

	way.IsOn.Store(true)
	require.NoError(t, world.Client.Delete(t.Context(), cluster))
	harness.Until(t, world, cluster, "the reported message", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return hasMessage(c.Status.Conditions, "removing the finalizer of ")
	})
	world.Get(t, cart)
	require.True(t, isClean(cart))

	way.IsOn.Store(false)
	harness.Eventually(t, "the deletion of the ClusterVectorSidecar", func() bool { return isGone(t, cluster) })
}

// One namespace blocks the deletion of a ClusterVectorSidecar. The status names it, and the sidecars in other
// namespaces are removed.
func TestClusterVectorSidecar_ReportsNamespaceBlockingDeletion(t *testing.T) {
	cluster := clusterOf(t)
	one, other := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	way := &harness.Answers{
		Path: "/namespaces/" + one + "/deployments", IsRead: true,
		With: apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "", errors.New(harness.Locked)),
	}
	runsThrough(t, way)
	in, elsewhere := labeled("cart", one), labeled("cart", other)
	world.Create(t, in, elsewhere, cluster)
	harness.Until(t, world, cluster, "its sidecars", injectedIn(2, 2))

	way.IsOn.Store(true)
	require.NoError(t, world.Client.Delete(t.Context(), cluster))
	harness.Until(t, world, cluster, "the reported message", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return hasMessage(c.Status.Conditions, one+": finding workloads that still have the sidecar: ")
	})
	harness.Until(t, world, elsewhere, "no sidecar", isClean)

	way.IsOn.Store(false)
	harness.Eventually(t, "the deletion of the ClusterVectorSidecar", func() bool { return isGone(t, cluster) })
}
