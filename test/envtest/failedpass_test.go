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
	"k8s.io/apimachinery/pkg/util/validation/field"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// answersFor returns two that a webhook may give: one that the operator takes for a change by somebody else at first,
// and one that is a refusal.
func answersFor(resource string) map[string]apierrors.APIStatus {
	of := schema.GroupResource{Group: v1alpha1.GroupVersion.Group, Resource: resource}
	kind := schema.GroupKind{Group: of.Group, Kind: resource}
	return map[string]apierrors.APIStatus{
		"conflict": apierrors.NewConflict(of, "logs", errors.New("locked by the release team")),
		"refusal":  apierrors.NewInvalid(kind, "logs", field.ErrorList{field.Required(field.NewPath("metadata", "labels"), "locked by the release team")}),
	}
}

// says returns whether conditions say that something is tried again and again, and why it fails.
func says(conditions []metav1.Condition, what string) bool {
	ready := apimeta.FindStatusCondition(conditions, meta.ConditionReady)
	isTold := ready != nil && ready.Status == metav1.ConditionFalse && strings.Contains(ready.Message, what) && strings.Contains(ready.Message, "locked by the release team")
	return isTold && apimeta.IsStatusConditionTrue(conditions, meta.ConditionReconciling) && apimeta.IsStatusConditionTrue(conditions, meta.ConditionError)
}

// Nobody would take the sidecars of a ClusterVectorSidecar out again that the operator may not mark.
func TestAClusterVectorSidecarThatCannotBeMarkedSaysWhy(t *testing.T) {
	cluster := clusterOf(t)
	way := &answering{path: "/clustervectorsidecars/" + cluster.Name, with: answersFor("clustervectorsidecars")["refusal"]}
	way.isOn.Store(true)
	runsThrough(t, way)
	cart := labelled("cart", world.Namespace(t, "team", cluster.Name))
	world.Create(t, cart, cluster)

	harness.Until(t, world, cluster, "what is said of it", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return says(c.Status.Conditions, "adding the finalizer: ")
	})
	world.Get(t, cart)
	require.True(t, isClean(cart))

	way.isOn.Store(false)
	harness.Until(t, world, cluster, "its sidecar", injectedIn(1, 1))
}

// Who deletes a VectorSidecar, or its namespace, waits for the finalizer, and is told why it stays.
func TestAVectorSidecarThatCannotBeReleasedSaysWhy(t *testing.T) {
	answers := answersFor("vectorsidecars")
	answers["no permission to look"] = apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "", errors.New("locked by the release team"))
	for name, answer := range answers {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			way, said := &answering{path: "/namespaces/" + namespace + "/vectorsidecars/logs", with: answer}, "removing the finalizer: "
			if name == "no permission to look" {
				way.path, way.isRead, said = "/namespaces/"+namespace+"/deployments", true, "finding workloads that still carry the sidecar: "
			}
			runsThrough(t, way)
			cart := objects.NewDeployment("cart", namespace).WithReplicas(0).Labelled("logs", "vector").Build()
			vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithSoak(0).Build()
			world.Create(t, cart, vs)
			harness.Until(t, world, vs, "its sidecar", isUpToDate)

			way.isOn.Store(true)
			require.NoError(t, world.Client.Delete(t.Context(), vs))
			harness.Until(t, world, vs, "what is said of it", func(vs *v1alpha1.VectorSidecar) bool { return says(vs.Status.Conditions, said) })
			tried, before := way.count.Load(), vs.ResourceVersion
			require.LessOrEqual(t, tried, int32(14))
			world.Get(t, cart)
			require.True(t, isClean(cart))
			if name == "refusal" { // The next attempt is far off then; the operator of the next test takes it from here.
				harness.Eventually(t, "another attempt", func() bool { return way.count.Load() > tried })
				world.Get(t, vs)
				require.Equal(t, before, vs.ResourceVersion, "it is said once")
				return
			}

			way.isOn.Store(false)
			harness.Eventually(t, "the VectorSidecar to go", func() bool { return isGone(t, vs) })
		})
	}
}

func TestAClusterVectorSidecarThatCannotBeReleasedSaysWhy(t *testing.T) {
	cluster := clusterOf(t)
	way := &answering{path: "/clustervectorsidecars/" + cluster.Name, with: answersFor("clustervectorsidecars")["refusal"]}
	runsThrough(t, way)
	cart := labelled("cart", world.Namespace(t, "team", cluster.Name))
	world.Create(t, cart, cluster)
	harness.Until(t, world, cluster, "its sidecar", injectedIn(1, 1))

	way.isOn.Store(true)
	require.NoError(t, world.Client.Delete(t.Context(), cluster))
	harness.Until(t, world, cluster, "what is said of it", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return says(c.Status.Conditions, "removing the finalizer: ")
	})
	world.Get(t, cart)
	require.True(t, isClean(cart))

	way.isOn.Store(false)
	harness.Eventually(t, "the ClusterVectorSidecar to go", func() bool { return isGone(t, cluster) })
}

// What fails in one namespace of a ClusterVectorSidecar that is deleted is said with the namespace.
func TestANamespaceThatAClusterVectorSidecarCannotLeaveSaysWhy(t *testing.T) {
	cluster := clusterOf(t)
	one, other := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	way := &answering{
		path: "/namespaces/" + one + "/deployments", isRead: true,
		with: apierrors.NewForbidden(schema.GroupResource{Group: "apps", Resource: "deployments"}, "", errors.New("locked by the release team")),
	}
	runsThrough(t, way)
	in, elsewhere := labelled("cart", one), labelled("cart", other)
	world.Create(t, in, elsewhere, cluster)
	harness.Until(t, world, cluster, "its sidecars", injectedIn(2, 2))

	way.isOn.Store(true)
	require.NoError(t, world.Client.Delete(t.Context(), cluster))
	harness.Until(t, world, cluster, "what is said of it", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return says(c.Status.Conditions, one+": finding workloads that still carry the sidecar: ")
	})
	harness.Until(t, world, elsewhere, "no sidecar", isClean)

	way.isOn.Store(false)
	harness.Eventually(t, "the ClusterVectorSidecar to go", func() bool { return isGone(t, cluster) })
}
