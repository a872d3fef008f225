// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package injection

import (
	"context"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// sidecarInNamespace returns the VectorSidecar that represents a ClusterVectorSidecar in a namespace.
func sidecarInNamespace(cluster *v1alpha1.ClusterVectorSidecar, namespace string) *v1alpha1.VectorSidecar {
	return clusterwide.NewSidecar(cluster, namespace, true)
}

// hasOverlay returns whether the OverlaySet of a namespace has an overlay of a VectorSidecar, active or skipped.
func hasOverlay(t *testing.T, namespace, sidecar string) bool {
	t.Helper()
	set := &v1alpha1.OverlaySet{}
	err := world.Client.Get(context.WithoutCancel(t.Context()), client.ObjectKey{Namespace: namespace, Name: meta.OverlaySet}, set)
	require.NoError(t, client.IgnoreNotFound(err))
	return slices.ContainsFunc(set.Spec.Overlays, func(o v1alpha1.Overlay) bool { return o.VectorSidecar == sidecar })
}

func awaitNoOverlay(t *testing.T, namespace, sidecar string) {
	t.Helper()
	harness.Eventually(t, sidecar+" to be out of the OverlaySet of "+namespace, func() bool { return !hasOverlay(t, namespace, sidecar) })
}

func relabel(t *testing.T, namespace, key, value string) {
	t.Helper()
	harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}, func(n *corev1.Namespace) {
		if value == "" {
			delete(n.Labels, key)
			return
		}
		metav1.SetMetaDataLabel(&n.ObjectMeta, key, value)
	})
}

func labeled(name, namespace string) *appsv1.Deployment {
	return objects.NewDeployment(name, namespace).Labeled("logs", "vector").Build()
}

// The API server injects the sidecar into new workloads of each namespace that the ClusterVectorSidecar selects. The
// copied ConfigMap exists before the first injection. If the namespace is no longer selected, the sidecar is removed.
func TestClusterVectorSidecar_InjectsAtAdmission(t *testing.T) {
	t.Parallel()
	const replicas = 3
	cluster := world.ClusterVectorSidecar(t)
	config := objects.NewConfigMap(cluster.Name, options.Namespace, "vector.yaml", objects.VectorConfig("one"))
	world.Create(t, config)
	t.Cleanup(func() { require.NoError(t, world.Client.Delete(context.WithoutCancel(t.Context()), config)) })
	cluster.Spec.ConfigMapNamespace = v1alpha1.ConfigMapOfOperator
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{Config: &v1alpha1.ConfigSpec{ConfigMapRef: &v1alpha1.ConfigMapRef{Name: cluster.Name, Key: "vector.yaml"}}}
	name := meta.ClusterSidecarName(cluster.Name)
	first, later := world.Namespace(t, "team", cluster.Name), world.Namespace(t)
	optedOut := world.Namespace(t, "team", cluster.Name, meta.AnnotationInject, "false")
	world.Create(t, cluster)
	created := func(namespace string) {
		awaitOverlay(t, sidecarInNamespace(cluster, namespace))
		var copies corev1.ConfigMapList
		require.NoError(t, world.Client.List(t.Context(), &copies, client.InNamespace(namespace), client.HasLabels{meta.LabelSidecar}))
		require.Len(t, copies.Items, 1, "what it reads is there before")
		untilActive(t, labeled("any", namespace), "vector")
		made, cart := countPods(t, namespace), objects.NewDeployment("cart", namespace).Labeled("logs", "vector").WithReplicas(replicas).Build()
		spared := objects.NewDeployment("spared", namespace).Labeled("logs", "vector").Annotated(meta.AnnotationInject, "false").WithReplicas(0).Build()
		world.Create(t, cart, spared)
		require.Equal(t, []string{"vector", "app"}, names(cart))
		require.Equal(t, []string{"app"}, names(spared))
		harness.Until(t, world, cart, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(name)(d) })
		harness.Until(t, world, cart, "its pods", func(d *appsv1.Deployment) bool {
			return d.Status.ObservedGeneration == d.Generation && d.Status.AvailableReplicas == replicas
		})
		require.EqualValues(t, 1, cart.Generation)
		require.Equal(t, name, cart.Annotations[meta.AnnotationSidecarName])
		require.Equal(t, 2, revisions(t, namespace), "one for each Deployment")
		require.Equal(t, replicas, made())
	}

	created(first)
	require.Regexp(t, `injected by +the API server, when the workload was written`, plugin(t, "explain", "deployment/cart", "-n", first))
	require.Regexp(t, `new workloads +by the API server, if its admission policy can evaluate the workload \(1 overlay\)`, plugin(t, "explain", "deployment/cart", "-n", first))
	require.NotContains(t, plugin(t, "check"), name+" in namespace "+first)
	require.False(t, hasOverlay(t, optedOut, name))
	require.False(t, hasOverlay(t, later, name))
	relabel(t, later, "team", cluster.Name)
	created(later)

	cart := objects.NewDeployment("cart", later).Build()
	relabel(t, later, "team", "")
	harness.Until(t, world, cart, "the removal", func(d *appsv1.Deployment) bool { return !has(d, "vector") })
	require.False(t, hasOverlay(t, later, name), "the part goes before the sidecars")
	relabel(t, later, "team", cluster.Name)
	awaitOverlay(t, sidecarInNamespace(cluster, later))

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { off := false; c.Spec.Enabled = &off })
	awaitNoOverlay(t, first, name)
	awaitNoOverlay(t, later, name)
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Enabled = nil })
	awaitOverlay(t, sidecarInNamespace(cluster, first))
	awaitOverlay(t, sidecarInNamespace(cluster, later))
	world.RemoveCluster(t, cluster)
	require.False(t, hasOverlay(t, first, name), "it is not gone before")
	require.False(t, hasOverlay(t, later, name))
	world.Get(t, cart)
	require.Equal(t, []string{"app"}, names(cart))
}

// The operator does not block the deletion of a namespace. If a namespace of the same name is created, the API server
// injects there again.
func TestClusterVectorSidecar_AllowsNamespaceDeletion(t *testing.T) {
	t.Parallel()
	cluster := world.ClusterVectorSidecar(t)
	going, stays := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	world.Create(t, cluster)
	awaitOverlay(t, sidecarInNamespace(cluster, going))
	awaitOverlay(t, sidecarInNamespace(cluster, stays))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going}}
	world.Delete(t, namespace)
	gone := func() bool {
		return apierrors.IsNotFound(world.Client.Get(t.Context(), client.ObjectKeyFromObject(namespace), namespace))
	}
	harness.Eventually(t, "the deletion of the namespace", gone)
	again := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going, Labels: map[string]string{"team": cluster.Name}}}
	world.Create(t, again)
	awaitOverlay(t, sidecarInNamespace(cluster, going))
	untilActive(t, labeled("any", going), "vector")
	require.True(t, hasOverlay(t, stays, meta.ClusterSidecarName(cluster.Name)))
}

// If a VectorSidecar and a ClusterVectorSidecar select the same new workload, the API server injects the sidecar of
// the VectorSidecar. If the ClusterVectorSidecar names the VectorSidecar in spec.takesPrecedenceOver, the API server
// injects the sidecar of the ClusterVectorSidecar. If both sidecars are compatible, it injects both.
func TestVectorSidecar_PrecedesClusterVectorSidecar(t *testing.T) {
	t.Parallel()
	cluster := world.ClusterVectorSidecar(t)
	namespace := world.Namespace(t, "team", cluster.Name)
	world.Create(t, cluster)
	name, vs := meta.ClusterSidecarName(cluster.Name), objects.NewVectorSidecar("own", namespace).Selecting("own", "yes").Build()
	awaitOverlay(t, sidecarInNamespace(cluster, namespace))
	world.Create(t, vs)
	awaitOverlay(t, vs)
	both := func(name string) *appsv1.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("logs", "vector").Labeled("own", "yes").Build()
	}
	ownOnly := func(name string) *appsv1.Deployment {
		return objects.NewDeployment(name, namespace).Labeled("own", "yes").Build()
	}
	carries := func(object client.Object, sidecar string) bool {
		_, carries := template(object).Annotations[meta.AnnotationInjectedItems(meta.Manager(sidecar))]
		return carries
	}
	activeFor := func(object *appsv1.Deployment, sidecar string) {
		harness.Eventually(t, "a policy that injects the sidecar of "+sidecar, func() bool {
			trial := object.DeepCopy()
			return world.Client.Create(t.Context(), trial, client.DryRunAll) == nil && carries(trial, sidecar)
		})
	}
	create := func(object *appsv1.Deployment, sidecar, other string) {
		activeFor(object, sidecar)
		world.Create(t, object)
		require.True(t, carries(object, sidecar))
		require.False(t, carries(object, other))
		harness.Until(t, world, object, "the adoption by the operator", func(d *appsv1.Deployment) bool { return isAdopted(sidecar)(d) })
		require.Equal(t, []string{"vector", "app"}, names(object))
		require.Empty(t, template(object).Annotations[meta.AnnotationInjectedItems(meta.Manager(other))])
	}
	create(both("of-own"), "own", name)
	create(labeled("of-cluster", namespace), name, "own")

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.TakesPrecedenceOver = []string{"own"} })
	harness.Eventually(t, "the rejection", func() bool {
		set := awaitOverlay(t, vs)
		at := slices.IndexFunc(set.Spec.Overlays, func(o v1alpha1.Overlay) bool { return o.VectorSidecar == "own" })
		return slices.Equal(set.Spec.Overlays[at].Supersedes, []string{name})
	})
	create(both("of-cluster-too"), name, "own")
	create(ownOnly("of-own-alone"), "own", name)
	stays := both("of-own")
	world.Get(t, stays)
	require.True(t, carries(stays, "own"), "what such a one has injected stays")
	require.Equal(t, 4, revisions(t, namespace), "no workload was rolled")

	// A compatible VectorSidecar is injected at creation, too.
	traces := otlp("traces", namespace).Build()
	traces.Spec.Selector.MatchLabels = map[string]string{"traces": "yes"}
	world.Create(t, traces)
	awaitOverlay(t, traces)
	two := objects.NewDeployment("two", namespace).Labeled("logs", "vector").Labeled("traces", "yes").Build()
	activeFor(two, "traces")
	activeFor(two, name)
	world.Create(t, two)
	require.Equal(t, []string{"vector-otlp", "vector", "app"}, names(two), "that of the namespace comes first")
	harness.Until(t, world, two, "the adoption of both sidecars", func(d *appsv1.Deployment) bool { return isAdopted("traces")(d) && isAdopted(name)(d) })
	require.Equal(t, 5, revisions(t, namespace))
}
