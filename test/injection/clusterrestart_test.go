// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// If a ClusterVectorSidecar is deleted or its selector changes while no operator runs, the next operator removes its
// overlays from all namespaces, including namespaces without workloads and ConfigMaps. The test is not parallel,
// because it restarts the operator.
func TestClusterVectorSidecar_RemovesLeftoversAfterRestart(t *testing.T) {
	deleted, forced, left := world.ClusterVectorSidecar(t), world.ClusterVectorSidecar(t), world.ClusterVectorSidecar(t)
	forced.Name, left.Name = forced.Name+"-forced", left.Name+"-left"
	all, reached := []*v1alpha1.ClusterVectorSidecar{deleted, forced, left}, map[string][]string{}
	for _, cluster := range all {
		cluster.Spec.NamespaceSelector.MatchLabels = map[string]string{"team": cluster.Name}
		reached[cluster.Name] = []string{world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)}
		world.Create(t, cluster)
	}
	for _, cluster := range all {
		for _, namespace := range reached[cluster.Name] {
			awaitOverlay(t, sidecarInNamespace(cluster, namespace))
		}
	}
	require.NoError(t, running.Stop())
	running = world.RunOperator(options)
	for _, cluster := range all {
		harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
			c.Annotations = map[string]string{meta.AnnotationReconcileAt: "now"}
		})
		harness.Until(t, world, cluster, "a handled request", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastHandledReconcileAt == "now" })
		for _, namespace := range reached[cluster.Name] {
			require.Empty(t, running.Requests.Writes("/namespaces/"+namespace+"/"), "a restart writes nothing, and asks nothing")
			require.Empty(t, running.Requests.Reads("/namespaces/"+namespace+"/"))
		}
	}

	require.NoError(t, running.Stop())
	for _, cluster := range all {
		for _, namespace := range reached[cluster.Name] {
			require.NoError(t, world.Client.DeleteAllOf(t.Context(), &corev1.ConfigMap{}, client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar}))
		}
	}
	for _, namespace := range reached[left.Name] {
		relabel(t, namespace, "team", "")
	}
	relabel(t, reached[deleted.Name][0], "team", "")
	world.Delete(t, deleted)
	harness.Change(t, world, forced, func(c *v1alpha1.ClusterVectorSidecar) { c.Finalizers = nil })
	world.Delete(t, forced)
	require.True(t, hasOverlay(t, reached[forced.Name][0], meta.ClusterSidecarName(forced.Name)))
	running = world.RunOperator(options)
	for _, cluster := range all {
		for _, namespace := range reached[cluster.Name] {
			awaitNoOverlay(t, namespace, meta.ClusterSidecarName(cluster.Name))
		}
	}
	world.RemoveCluster(t, deleted)
}

// ClusterVectorSidecars are no longer enabled. The operator removes their overlays. The test is not parallel, because
// it restarts the operator.
func TestOverlaySet_DropsOverlaysOfDisabledKind(t *testing.T) {
	cluster := world.ClusterVectorSidecar(t)
	namespace := world.Namespace(t, "team", cluster.Name)
	world.Create(t, cluster)
	awaitOverlay(t, sidecarInNamespace(cluster, namespace))
	require.NoError(t, running.Stop())
	without := options
	without.ClusterSidecars = false
	running = world.RunOperator(without)
	t.Cleanup(func() {
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
	})
	awaitNoOverlay(t, namespace, meta.ClusterSidecarName(cluster.Name))
}

// An event in one namespace causes requests for that namespace only. The operator tests an overlay once in each
// namespace, and writes a deleted OverlaySet again. The test is not parallel, because it counts requests.
func TestClusterVectorSidecar_WritesOnlyToChangedNamespace(t *testing.T) {
	const many = 30
	cluster := world.ClusterVectorSidecar(t)
	cluster.Spec.Selector.MatchLabels = map[string]string{"logs": "many"}
	var namespaces []string
	for range many {
		namespaces = append(namespaces, world.Namespace(t, "team", cluster.Name))
	}
	world.Create(t, cluster)
	for _, namespace := range namespaces {
		awaitOverlay(t, sidecarInNamespace(cluster, namespace))
	}
	is := func(what string) func(harness.Request) bool {
		return func(r harness.Request) bool { return strings.Contains(r.Path, what) }
	}
	writes := func(namespace string) []harness.Request {
		return running.Requests.Writes("/namespaces/" + namespace + "/")
	}
	count := func(all []harness.Request, what string) (n int) {
		for _, request := range all {
			if is(what)(request) {
				n++
			}
		}
		return n
	}
	for _, namespace := range namespaces {
		require.Equal(t, 1, count(writes(namespace), "/podtemplates"), "it is tried once")
		require.Equal(t, 1, count(writes(namespace), "/overlaysets"), "it is written once")
	}
	harness.Until(t, world, cluster, "the status", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.ReadyNamespaces == many })
	others := func() (n int) {
		for _, namespace := range namespaces[1:] {
			n += len(writes(namespace)) + len(running.Requests.Reads("/namespaces/"+namespace+"/"))
		}
		return n
	}
	before := others()
	cart := objectsMany(namespaces[0])
	untilActive(t, cart, "vector")
	world.Create(t, cart)
	harness.Until(t, world, cart, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(meta.ClusterSidecarName(cluster.Name))(d) })
	require.NoError(t, world.Client.Delete(t.Context(), &v1alpha1.OverlaySet{ObjectMeta: metav1.ObjectMeta{Namespace: namespaces[0], Name: meta.OverlaySet}}))
	awaitOverlay(t, sidecarInNamespace(cluster, namespaces[0]))
	require.Equal(t, before, others(), "nothing in any other namespace")
	require.Equal(t, 1, count(writes(namespaces[0]), "/podtemplates"), "it was tried before")
}

func objectsMany(namespace string) *appsv1.Deployment {
	cart := labeled("cart", namespace)
	cart.Labels["logs"] = "many"
	return cart
}
