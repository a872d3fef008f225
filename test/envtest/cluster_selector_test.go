// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"testing"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// reportsSelector reports whether a status contains that the namespaces cannot be selected.
func reportsSelector(c *v1alpha1.ClusterVectorSidecar) bool {
	ready := apimeta.FindStatusCondition(c.Status.Conditions, meta.ConditionReady)
	return c.Status.ObservedGeneration == c.Generation && ready != nil && ready.Reason == meta.ReasonInvalidSelector
}

// The CustomResourceDefinition allows some invalid namespaceSelectors, which only the webhook rejects. With one,
// nothing is injected and nothing is removed.
func TestClusterVectorSidecar_KeepsSidecarsOnInvalidSelector(t *testing.T) {
	cluster := clusterOf(t)
	namespace, later := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	cart := labeled("cart", namespace)
	world.Create(t, cart, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 1))
	world.Get(t, cart)
	version := cart.ResourceVersion

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.NamespaceSelector.MatchLabels["team"] = "not a label" })
	harness.Until(t, world, cluster, "a message about the selector", reportsSelector)
	message := apimeta.FindStatusCondition(cluster.Status.Conditions, meta.ConditionReady).Message
	require.Contains(t, message, "spec.namespaceSelector")
	require.Contains(t, message, "not a label")
	require.True(t, apimeta.IsStatusConditionTrue(cluster.Status.Conditions, meta.ConditionError))

	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
	marker := objects.NewVectorSidecar("marker", world.Namespace(t)).Selecting("logs", "nothing").Build()
	world.Create(t, marker)
	harness.Until(t, world, marker, "a status from the new operator", isReady)
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Annotations = map[string]string{meta.AnnotationReconcileAt: "now"}
	})
	harness.Until(t, world, cluster, "a handled request", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastHandledReconcileAt == "now" })
	require.True(t, reportsSelector(cluster))
	world.Get(t, cart)
	require.Equal(t, version, cart.ResourceVersion, "nothing is written")
	require.NotEmpty(t, companionsIn(t, namespace))

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.NamespaceSelector.MatchLabels["team"] = c.Name })
	other := labeled("other", later)
	world.Create(t, other)
	harness.Until(t, world, other, "the sidecar", isInjected)
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))

	// With the invalid selector, deletion still removes all sidecars.
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.NamespaceSelector.MatchLabels["team"] = "not a label" })
	harness.Until(t, world, cluster, "a message about the selector", reportsSelector)
	world.RemoveCluster(t, cluster)
	harness.Until(t, world, cart, "the removal", isClean)
	harness.Until(t, world, other, "the removal", isClean)
}
