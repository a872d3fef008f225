// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// clusterOf returns a ClusterVectorSidecar for the namespaces with the label team=NAME, without soak.
func clusterOf(t *testing.T) *v1alpha1.ClusterVectorSidecar {
	t.Helper()
	cluster := world.ClusterVectorSidecar(t)
	cluster.Spec.Rollout = &v1alpha1.RolloutSpec{Soak: &metav1.Duration{}}
	return cluster
}

func isClusterReady(cluster *v1alpha1.ClusterVectorSidecar) bool {
	return cluster.Status.ObservedGeneration == cluster.Generation && apimeta.IsStatusConditionTrue(cluster.Status.Conditions, meta.ConditionReady)
}

// injectedIn returns a condition: all of some workloads in some namespaces are ready.
func injectedIn(namespaces, workloads int32) func(*v1alpha1.ClusterVectorSidecar) bool {
	return func(cluster *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterReady(cluster) && cluster.Status.SelectedNamespaces == namespaces &&
			cluster.Status.ReadyWorkloads+cluster.Status.WorkloadsWithoutPods == workloads
	}
}

func labeled(name, namespace string) *appsv1.Deployment {
	return objects.NewDeployment(name, namespace).Labeled("logs", "vector").Build()
}

// Namespaces without the label, opted-out namespaces and opted-out workloads stay without a sidecar.
func TestClusterVectorSidecar_InjectsIntoSelectedNamespaces(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	one, two, other := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name), world.Namespace(t)
	optedOut := world.Namespace(t, "team", cluster.Name, meta.AnnotationInject, "false")
	inOne, inTwo, elsewhere, left := labeled("cart", one), labeled("cart", two), labeled("cart", other), labeled("cart", optedOut)
	spared := objects.NewDeployment("spared", one).Labeled("logs", "vector").Annotated(meta.AnnotationInject, "false").Build()
	world.Create(t, inOne, inTwo, elsewhere, left, spared, cluster)

	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))
	requireRecorded(t, "cluster-ready", cluster, "Ready=True UpToDate")

	world.Get(t, inOne)
	require.True(t, isInjected(inOne))
	require.Equal(t, meta.ClusterSidecarName(cluster.Name), inOne.Annotations[meta.AnnotationSidecarName])
	require.Contains(t, managersOf(inOne), "clustervectorsidecar/"+cluster.Name)
	for _, clean := range []*appsv1.Deployment{elsewhere, left, spared} {
		world.Get(t, clean)
		require.True(t, isClean(clean), clean.Namespace+"/"+clean.Name)
	}
	require.EqualValues(t, 3, cluster.Status.MatchedWorkloads)
	require.EqualValues(t, 2, cluster.Status.ReadyNamespaces)
	require.Equal(t, []v1alpha1.NamespacedWorkloadStatus{{
		Namespace: one, Kind: "Deployment", Name: "spared", State: "Skipped", Reason: meta.ReasonOptedOut,
		Message: "annotation " + meta.AnnotationInject + ` is "false"`,
	}}, cluster.Status.Workloads)
	for _, companion := range companionsIn(t, one) {
		require.Empty(t, companion.OwnerReferences, "nothing is owned across scopes")
		require.Equal(t, meta.LabelValue(meta.ClusterSidecarName(cluster.Name)), companion.Labels[meta.LabelSidecar])
	}
}

func managersOf(deployment *appsv1.Deployment) []string {
	var names []string
	for _, entry := range deployment.ManagedFields {
		names = append(names, entry.Manager)
	}
	return names
}

// byName selects namespaces by their names.
func byName(cluster *v1alpha1.ClusterVectorSidecar, names ...string) {
	cluster.Spec.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpIn, Values: names,
	}}}
}

// If a namespace gets the selected label, its workloads get the sidecar. Without the label they are restored.
func TestClusterVectorSidecar_FollowsNamespaceLabels(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	stays, moves := world.Namespace(t, "team", cluster.Name), world.Namespace(t)
	first, deployment := labeled("cart", stays), labeled("cart", moves)
	world.Create(t, first, deployment)
	before := rawTemplate(t, deployment)
	world.Create(t, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: moves}}

	began := time.Now()
	harness.Change(t, world, namespace, func(n *corev1.Namespace) { n.Labels["team"] = cluster.Name })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	t.Logf("label on a namespace to sidecar: %s", time.Since(began).Round(time.Millisecond))
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))

	harness.Change(t, world, namespace, func(n *corev1.Namespace) { delete(n.Labels, "team") })
	harness.Until(t, world, deployment, "removal", isClean)
	require.Equal(t, before, rawTemplate(t, deployment))
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	require.Empty(t, companionsIn(t, moves))

	// The opt-out annotation also removes the sidecar.
	harness.Change(t, world, namespace, func(n *corev1.Namespace) { n.Labels["team"] = cluster.Name })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Change(t, world, namespace, func(n *corev1.Namespace) { n.Annotations = map[string]string{meta.AnnotationInject: "false"} })
	harness.Until(t, world, deployment, "removal", isClean)
}

func TestClusterVectorSidecar_SkipsSystemNamespacesUnlessNamed(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	deployment := labeled(cluster.Name, metav1.NamespaceSystem)
	world.Create(t, deployment)
	t.Cleanup(func() { require.NoError(t, world.Client.Delete(context.WithoutCancel(t.Context()), deployment)) })
	namespace := world.Namespace(t, "team", cluster.Name)
	cluster.Spec.NamespaceSelector = metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{
		Key: corev1.LabelMetadataName, Operator: metav1.LabelSelectorOpExists,
	}}}
	// Other tests have workloads with the usual label.
	cluster.Spec.Selector.MatchLabels = map[string]string{"own": cluster.Name}
	harness.Change(t, world, deployment, func(d *appsv1.Deployment) { d.Labels["own"] = cluster.Name })
	world.Create(t, objects.NewDeployment("cart", namespace).Labeled("own", cluster.Name).Build(), cluster)
	// Namespaces of other tests may fail at the same time, because this one selects all.
	harness.Until(t, world, cluster, "the one sidecar", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.ReadyWorkloads == 1 })
	world.Get(t, deployment)
	require.True(t, isClean(deployment))

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { byName(c, namespace, metav1.NamespaceSystem) })
	harness.Until(t, world, deployment, "the sidecar", isInjected)
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))
}

// A VectorSidecar takes precedence over an older ClusterVectorSidecar with an equal container name.
func TestVectorSidecar_PrecedesClusterVectorSidecar(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	namespace := world.Namespace(t, "team", cluster.Name)
	deployment := labeled("cart", namespace)
	world.Create(t, deployment, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))

	vs := objects.NewVectorSidecar(cluster.Name, namespace).Selecting("logs", "vector").Build()
	world.Create(t, vs)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	world.Get(t, deployment)
	require.NotContains(t, managersOf(deployment), "clustervectorsidecar/"+cluster.Name)
	require.Contains(t, managersOf(deployment), "vectorsidecar/"+cluster.Name)
	harness.Until(t, world, cluster, "a message about the problem", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterReady(c) && len(c.Status.Workloads) == 1 && c.Status.Workloads[0].Reason == meta.ReasonSuperseded
	})

	require.NoError(t, world.Client.Delete(t.Context(), vs))
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	world.Get(t, deployment)
	require.Contains(t, managersOf(deployment), "clustervectorsidecar/"+cluster.Name)

	// With takesPrecedenceOver, the ClusterVectorSidecar takes precedence.
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.TakesPrecedenceOver = []string{"theirs"} })
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	generation := deployment.Generation
	theirs := objects.NewVectorSidecar("theirs", namespace).Selecting("logs", "vector").Build()
	world.Create(t, theirs)
	harness.Until(t, world, theirs, "a conflict", hasCondition(meta.ConditionStalled, metav1.ConditionTrue, "Conflict: "))
	world.Get(t, deployment)
	require.Equal(t, generation, deployment.Generation, "nothing is taken over")
}

// A namespace that is being deleted, or in which the API server rejects writes, does not block other namespaces.
func TestClusterVectorSidecar_IsolatesFailingNamespaces(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	well, full, going := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	inWell, inFull, inGoing := labeled("cart", well), labeled("cart", full), labeled("cart", going)
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: full}}
	quota.Spec.Hard = corev1.ResourceList{"count/configmaps": resource.MustParse("0")}
	inGoing.Finalizers = []string{"example.com/held"}
	world.Create(t, inWell, inFull, inGoing, quota)
	harness.Until(t, world, quota, "the usage in its status", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	require.NoError(t, world.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going}}))

	world.Create(t, cluster)

	harness.Until(t, world, inWell, "the sidecar", isInjected)
	harness.Until(t, world, cluster, "a message about the quota", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return c.Status.ReadyNamespaces == 1 && c.Status.SelectedNamespaces == 2 && c.Status.ReadyWorkloads == 1 && len(c.Status.Workloads) > 0
	})
	require.Equal(t, full, cluster.Status.Workloads[0].Namespace)
	require.True(t, apimeta.IsStatusConditionTrue(cluster.Status.Conditions, meta.ConditionError))
	requireRecorded(t, "cluster-rejected", cluster, "Reconciling=True Retrying")

	require.NoError(t, world.Client.Delete(t.Context(), quota))
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))
	world.RemoveCluster(t, cluster)
	harness.Change(t, world, inGoing, func(d *appsv1.Deployment) { d.Finalizers = nil })
}

func TestClusterVectorSidecar_RestoresWorkloadsWhenDeleted(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	var deployments []*appsv1.Deployment
	var before []string
	for range 3 {
		namespace := world.Namespace(t, "team", cluster.Name)
		deployment := objects.NewDeployment("app", namespace).Labeled("logs", "vector").WithInitContainer("wait").Build()
		world.Create(t, deployment)
		deployments, before = append(deployments, deployment), append(before, rawTemplate(t, deployment))
	}
	world.Create(t, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(3, 3))

	world.RemoveCluster(t, cluster)

	for i, deployment := range deployments {
		world.Get(t, deployment)
		require.Equal(t, before[i], rawTemplate(t, deployment))
		delete(deployment.Annotations, "deployment.kubernetes.io/revision")
		require.Empty(t, deployment.Annotations)
		for _, manager := range managersOf(deployment) {
			require.False(t, meta.IsManager(manager), "manager %s is left", manager)
		}
		require.Empty(t, companionsIn(t, deployment.Namespace))
	}
}

// A deleted ClusterVectorSidecar lists each namespace once. The event of the last deleted companion causes no further
// list, because lists delay the deletions in other namespaces.
func TestClusterVectorSidecar_ListsReleasedNamespacesOnce(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	namespace := world.Namespace(t, "team", cluster.Name)
	world.Create(t, labeled("cart", namespace), cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	require.NotEmpty(t, companionsIn(t, namespace))

	world.RemoveCluster(t, cluster)

	require.Empty(t, companionsIn(t, namespace))
	var last time.Time
	for _, write := range running.Requests.Writes("/namespaces/" + namespace + "/configmaps/") {
		last = write.At
	}
	require.False(t, last.IsZero())
	for _, read := range running.Requests.Reads("/namespaces/" + namespace + "/") {
		require.False(t, read.At.After(last), read.Path)
	}
}

// A ConfigMap in the operator namespace configures the sidecars of all selected namespaces.
func TestClusterVectorSidecar_CopiesConfigMapIntoNamespaces(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	config := objects.NewConfigMap(cluster.Name, options.Namespace, "vector.yaml", objects.VectorConfig("one"))
	world.Create(t, config)
	t.Cleanup(func() { require.NoError(t, world.Client.Delete(context.WithoutCancel(t.Context()), config)) })
	namespace := world.Namespace(t, "team", cluster.Name)
	deployment := labeled("cart", namespace)
	cluster.Spec.ConfigMapNamespace = v1alpha1.ConfigMapOfOperator
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{Config: &v1alpha1.ConfigSpec{ConfigMapRef: &v1alpha1.ConfigMapRef{Name: cluster.Name, Key: "vector.yaml"}}}
	world.Create(t, deployment, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	world.Get(t, deployment)
	first := deployment.Annotations[meta.AnnotationConfigMapVersion]
	copies := companionsIn(t, namespace)
	require.Len(t, copies, 1)
	require.Equal(t, config.Data, copies[0].Data)

	harness.Change(t, world, config, func(c *corev1.ConfigMap) { c.Data["vector.yaml"] = objects.VectorConfig("two") })
	harness.Until(t, world, deployment, "the new content", func(d *appsv1.Deployment) bool { return d.Annotations[meta.AnnotationConfigMapVersion] != first })
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
}

// A restart alone writes nothing. If a namespace was deselected while the operator was stopped, its sidecars are
// removed.
func TestClusterVectorSidecar_WritesNothingAfterRestart(t *testing.T) {
	cluster := clusterOf(t)
	stays, leaves := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	inStays, inLeaves := labeled("cart", stays), labeled("cart", leaves)
	world.Create(t, inStays, inLeaves, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))
	restart := func() {
		require.NoError(t, running.Stop())
		running = world.RunOperator(options)
	}

	restart()
	marker := objects.NewVectorSidecar("marker", world.Namespace(t)).Selecting("logs", "nothing").Build()
	world.Create(t, marker)
	harness.Until(t, world, marker, "a status from the new operator", isReady)
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Annotations = map[string]string{meta.AnnotationReconcileAt: "now"}
	})
	harness.Until(t, world, cluster, "a handled request", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastHandledReconcileAt == "now" })
	require.Empty(t, running.Requests.Writes("/namespaces/"+stays), "nothing in its namespaces")
	require.Empty(t, running.Requests.Writes("/namespaces/"+leaves))
	require.Len(t, running.Requests.Writes("/clustervectorsidecars/"), 1, "the answer alone")

	require.NoError(t, running.Stop())
	harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: leaves}}, func(n *corev1.Namespace) { delete(n.Labels, "team") })
	running = world.RunOperator(options)
	harness.Until(t, world, inLeaves, "removal", isClean)
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	require.Empty(t, companionsIn(t, leaves))
	world.Get(t, inStays)
	require.True(t, isInjected(inStays))
}

func TestClusterVectorSidecar_KeepsSidecarsWithPolicyOrphan(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	deployment := labeled("cart", world.Namespace(t, "team", cluster.Name))
	cluster.Spec.DeletionPolicy = v1alpha1.DeletionOrphan
	world.Create(t, deployment, cluster)
	harness.Until(t, world, cluster, "readiness", injectedIn(1, 1))
	before := rawTemplate(t, deployment)

	world.RemoveCluster(t, cluster)

	require.Equal(t, before, rawTemplate(t, deployment))
	world.Get(t, deployment)
	require.Contains(t, deployment.Annotations, meta.AnnotationOrphaned("clustervectorsidecar/"+cluster.Name))
	require.Len(t, companionsIn(t, deployment.Namespace), 1)
}

// A user requests a retry. It starts one more workload at a time. If that fails, the others stay blocked, also after a
// restart of the operator.
func TestClusterVectorSidecar_RetriesOnceAcrossRestarts(t *testing.T) {
	cluster := clusterOf(t)
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info"}
	cluster.Spec.Rollout.MaxConcurrent = ptr.To(intstr.FromInt32(1))
	namespace := world.Namespace(t, "team", cluster.Name)
	apps := []*appsv1.Deployment{labeled("a", namespace), labeled("b", namespace), labeled("c", namespace), labeled("d", namespace)}
	world.Create(t, apps[0], apps[1], apps[2], apps[3], cluster)
	harness.Until(t, world, cluster, "the sidecars", injectedIn(1, 4))
	requireFailed := func(n int32) {
		t.Helper()
		harness.Until(t, world, cluster, fmt.Sprintf("%d failures", n), func(c *v1alpha1.ClusterVectorSidecar) bool {
			return c.Status.ObservedGeneration == c.Generation && len(c.Status.Kinds) == 1 && c.Status.Kinds[0].Failed == n
		})
		written := int32(0)
		for _, app := range apps {
			if world.Get(t, app); logLevel(app) == "warn" {
				written++
			}
		}
		require.Equal(t, n, written)
	}

	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "warn", Image: crashes}
	})
	requireFailed(1)
	failure := time.Now()
	harness.Eventually(t, "another second, because times of a status are whole seconds", func() bool { return time.Now().Unix() > failure.Unix() })
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationRetryRollout, "now")
	})
	requireFailed(2)
	retry := cluster.Status.Retry
	require.NotNil(t, retry)

	restart(t)
	askCluster(t, cluster, "after the restart")
	requireFailed(2)
	require.Equal(t, retry, cluster.Status.Retry)
}
