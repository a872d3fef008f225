// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// reverting is a ClusterVectorSidecar that finished its spec in some namespaces, and reverts to that if another
// spec fails. Only the workload in the first namespace has pods, so only that one can fail.
type reverting struct {
	cluster *v1alpha1.ClusterVectorSidecar
	apps    []*appsv1.Deployment
}

func newReverting(t *testing.T, namespaces int, labels ...string) *reverting {
	t.Helper()
	in := &reverting{cluster: clusterOf(t)}
	in.cluster.Spec.Rollout.OnFailure = v1alpha1.OnFailureRevert
	in.cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info"}
	for n := range namespaces {
		app := labeled("cart", world.Namespace(t, append([]string{"team", in.cluster.Name}, labels...)...))
		if app.Spec.Replicas = ptr.To[int32](1); n > 0 {
			app.Spec.Replicas = ptr.To[int32](0)
		}
		world.Create(t, app)
		in.apps = append(in.apps, app)
	}
	world.Create(t, in.cluster)
	in.untilGood(t)
	return in
}

// untilGood waits until the current spec is the last known good one.
func (r *reverting) untilGood(t *testing.T) {
	t.Helper()
	harness.Until(t, world, r.cluster, "its last known good spec", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return c.Status.Reverted == nil && c.Status.LastKnownGood != nil && c.Status.LastKnownGood.Generation == c.Generation
	})
}

// requestReconcile changes the sidecar in the spec.
func (r *reverting) ask(t *testing.T, level, image string) {
	t.Helper()
	harness.Change(t, world, r.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: level, Image: image}
	})
}

const crashes = "registry.example/vector:crashes"

// fail changes the spec to one that fails, and waits until all namespaces are reverted.
func (r *reverting) fail(t *testing.T) {
	t.Helper()
	r.ask(t, "warn", crashes)
	r.untilBack(t)
}

func (r *reverting) untilBack(t *testing.T) {
	t.Helper()
	harness.Until(t, world, r.cluster, "the revert of all", isClusterBack)
	for _, app := range r.apps {
		world.Get(t, app)
		require.Equal(t, "info", logLevel(app), app.Namespace)
	}
}

// isClusterBack reports whether the spec is reverted, and the revert has finished in all namespaces.
func isClusterBack(c *v1alpha1.ClusterVectorSidecar) bool {
	ready := apimeta.FindStatusCondition(c.Status.Conditions, meta.ConditionReady)
	return c.Status.Reverted != nil && ready != nil && ready.Reason == meta.ReasonReverted && c.Status.ObservedGeneration == c.Generation &&
		apimeta.IsStatusConditionTrue(c.Status.Conditions, meta.ConditionStalled)
}

func clusterMessage(c *v1alpha1.ClusterVectorSidecar) string {
	return apimeta.FindStatusCondition(c.Status.Conditions, meta.ConditionReady).Message
}

// askCluster requests a reconcile of all namespaces, and waits until it has finished.
func askCluster(t *testing.T, cluster *v1alpha1.ClusterVectorSidecar, as string) {
	t.Helper()
	harness.Change(t, world, cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationReconcileAt, as)
	})
	harness.Until(t, world, cluster, "a handled request", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastHandledReconcileAt == as })
}

// A spec fails in one of several namespaces. The operator reverts it in all.
func TestClusterVectorSidecar_RevertsFailedSpecEverywhere(t *testing.T) {
	in := newReverting(t, 4)
	good := in.cluster.Status.LastKnownGood
	require.Contains(t, good.Spec, `"logLevel":"info"`)
	require.Empty(t, good.Failing)
	seen := watchLevels(t, in.apps[1].Namespace)

	in.fail(t)
	requireRecorded(t, "cluster-reverted", in.cluster, "Stalled=True Reverted")
	require.Equal(t, good, in.cluster.Status.LastKnownGood)
	require.Equal(t, in.cluster.Generation, in.cluster.Status.Reverted.Generation)
	require.Equal(t, in.apps[0].Namespace, in.cluster.Status.Reverted.Namespace)
	require.Equal(t, "warn", in.cluster.Spec.Sidecar.LogLevel, "the spec is its owner's")
	require.Contains(t, clusterMessage(in.cluster), "the spec of generation 2")
	require.Contains(t, clusterMessage(in.cluster), "1 of 4 Deployments in 4 namespaces run the current sidecar, 3 have no pods that run the sidecar")
	harness.Eventually(t, "an event", func() bool { return eventsOf(t, in.cluster, meta.ReasonReverted) == 1 })
	tried := seen.of("warn")

	restart(t)
	askCluster(t, in.cluster, "again")
	fresh := labeled("fresh", world.Namespace(t, "team", in.cluster.Name))
	added := labeled("added", in.apps[1].Namespace)
	world.Create(t, fresh, added)
	for _, one := range []*appsv1.Deployment{fresh, added} {
		harness.Until(t, world, one, "the last known good sidecar, from another leader", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" && isRolledOut(d) })
	}
	harness.Until(t, world, in.cluster, "the reverted state", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterBack(c) && c.Status.ReadyWorkloads+c.Status.WorkloadsWithoutPods == 6 && c.Status.SelectedNamespaces == 5
	})
	require.Equal(t, tried, seen.of("warn"), "it is not tried again")
	require.Contains(t, explained(t, fresh), "reverted      the spec of generation 2")
	plan := plugin(t, fresh.Namespace, "plan")
	require.Contains(t, plan, "ClusterVectorSidecar "+in.cluster.Name+": the spec of generation 2")
	require.NotContains(t, plan, "Update")

	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationRetryRollout, "now")
	})
	harness.Until(t, world, in.cluster, "the failure of the retry", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterBack(c) && c.Status.Reverted.LastHandledRetry != ""
	})
	require.Greater(t, seen.of("warn"), tried, "it was tried")

	in.ask(t, "error", "")
	in.untilGood(t)
	harness.Until(t, world, in.cluster, "readiness", injectedIn(5, 6))
	require.NotEqual(t, good.Digest, in.cluster.Status.LastKnownGood.Digest)
	for _, app := range append(in.apps, fresh, added) {
		world.Get(t, app)
		require.Equal(t, "error", logLevel(app))
	}
	harness.Eventually(t, "an event for each end", func() bool { return eventsOf(t, in.cluster, meta.ReasonRevertEnded) == 2 })
	require.Equal(t, 2, eventsOf(t, in.cluster, meta.ReasonReverted))
}

// In a large cluster, some namespaces always fail. A spec that is finished in all others is the last known good one,
// and is not reverted.
func TestClusterVectorSidecar_KeepsSpecWithFailingNamespaces(t *testing.T) {
	t.Parallel()
	cluster := clusterOf(t)
	cluster.Spec.Rollout.OnFailure = v1alpha1.OnFailureRevert
	cluster.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "info", Image: crashes}
	well, full, taken, going, fails := labeled("cart", world.Namespace(t, "team", cluster.Name)), labeled("cart", world.Namespace(t, "team", cluster.Name)),
		labeled("cart", world.Namespace(t, "team", cluster.Name)), labeled("cart", world.Namespace(t, "team", cluster.Name)), labeled("cart", world.Namespace(t, "team", cluster.Name))
	quota := &corev1.ResourceQuota{ObjectMeta: metav1.ObjectMeta{Name: "none", Namespace: full.Namespace}}
	quota.Spec.Hard = corev1.ResourceList{corev1.ResourcePods: resource.MustParse("0")}
	full.Spec.Replicas, full.Spec.ProgressDeadlineSeconds = ptr.To[int32](1), ptr.To[int32](3)
	taken.Spec.Template.Spec.Containers[0].Name = "vector"
	going.Finalizers = []string{"example.com/held"}
	well.Spec.Replicas, fails.Spec.Replicas = ptr.To[int32](1), ptr.To[int32](1)
	well.Spec.Template.Annotations = map[string]string{"any-image": "true"}
	world.Create(t, quota)
	harness.Until(t, world, quota, "the usage in its status", func(q *corev1.ResourceQuota) bool { return len(q.Status.Used) > 0 })
	world.Create(t, well, full, taken, going, fails)
	require.NoError(t, world.Client.Delete(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: going.Namespace}}))
	harness.Until(t, world, full, "the rejection of its pods", func(d *appsv1.Deployment) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool { return c.Type == appsv1.DeploymentReplicaFailure })
	})
	world.Create(t, cluster)
	in := &reverting{cluster: cluster}
	in.untilGood(t)
	harness.Until(t, world, cluster, "the name of the workload with a failing sidecar", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return slices.Equal(c.Status.LastKnownGood.Failing, []string{fails.Namespace})
	})

	in.ask(t, "warn", crashes)
	in.untilGood(t)
	for _, app := range []*appsv1.Deployment{well, fails} {
		harness.Until(t, world, app, "the next spec", has("warn"))
	}
	require.Equal(t, []string{fails.Namespace}, cluster.Status.LastKnownGood.Failing)
	harness.Until(t, world, cluster, "a message about the quota", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return slices.ContainsFunc(c.Status.Workloads, func(one v1alpha1.NamespacedWorkloadStatus) bool {
			return one.Namespace == full.Namespace && strings.Contains(one.Message, "exceeded quota")
		})
	})
	askCluster(t, cluster, "again")
	require.Nil(t, cluster.Status.Reverted)
	require.Zero(t, eventsOf(t, cluster, meta.ReasonReverted))
	world.RemoveCluster(t, cluster)
	harness.Change(t, world, going, func(d *appsv1.Deployment) { d.Finalizers = nil })
}

// If the leader changes at any step of a revert, each namespace is still reverted exactly once.
func TestClusterVectorSidecar_RevertsOnceAcrossLeaders(t *testing.T) {
	in := newReverting(t, 3)
	before := map[string]int64{}
	for _, app := range in.apps {
		world.Get(t, app)
		before[app.Namespace] = app.Generation
	}
	in.ask(t, "warn", crashes)
	harness.Until(t, world, in.apps[0], "the next spec", func(d *appsv1.Deployment) bool { return logLevel(d) == "warn" })
	restart(t)
	harness.Until(t, world, in.cluster, "the revert", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.Reverted != nil })
	restart(t)
	harness.Until(t, world, in.apps[0], "the last known good spec", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	restart(t)
	in.untilBack(t)
	for _, app := range in.apps {
		require.LessOrEqual(t, app.Generation, before[app.Namespace]+2, "it goes there and back, once")
	}
	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationRetryRollout, "now")
	})
	restart(t)
	harness.Until(t, world, in.cluster, "the failure of the attempt", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isClusterBack(c) && c.Status.Reverted.LastHandledRetry != ""
	})
	in.ask(t, "error", "")
	harness.Until(t, world, in.apps[1], "the corrected spec", has("error"))
	restart(t)
	in.untilGood(t)
}

// Each case is a change by a user while a spec is reverted, such as an opted-out namespace or a disabled
// ClusterVectorSidecar, and its effect on the workloads.
func TestClusterVectorSidecar_HandlesChangesWhileReverted(t *testing.T) {
	t.Parallel()
	t.Run("opted out where it failed", func(t *testing.T) {
		t.Parallel()
		in := newReverting(t, 2)
		in.fail(t)
		harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: in.apps[0].Namespace}}, func(n *corev1.Namespace) {
			metav1.SetMetaDataLabel(&n.ObjectMeta, meta.AnnotationInject, "false")
		})
		harness.Until(t, world, in.apps[0], "removal", isClean)
		harness.Until(t, world, in.cluster, "the reverted state", func(c *v1alpha1.ClusterVectorSidecar) bool {
			return isClusterBack(c) && c.Status.SelectedNamespaces == 1
		})
		harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
			metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationRetryRollout, "now")
		})
		harness.Until(t, world, in.apps[1], "the spec without failures", has("warn"))
		harness.Until(t, world, in.cluster, "the end of the revert", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.Reverted == nil })
	})
	t.Run("disabled and enabled", func(t *testing.T) {
		t.Parallel()
		in := newReverting(t, 2)
		in.fail(t)
		harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Enabled = ptr.To(false) })
		for _, app := range in.apps {
			harness.Until(t, world, app, "removal", isClean)
		}
		harness.Until(t, world, in.cluster, "the reverted state", isClusterBack)
		harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Enabled = nil })
		for _, app := range in.apps {
			harness.Until(t, world, app, "the last known good spec", has("info"))
		}
		in.untilBack(t)
	})
	t.Run("as it was before", func(t *testing.T) {
		t.Parallel()
		in := newReverting(t, 2)
		in.fail(t)
		generations := []int64{in.apps[0].Generation, in.apps[1].Generation}
		in.ask(t, "info", "")
		harness.Until(t, world, in.cluster, "readiness", injectedIn(2, 2))
		require.Nil(t, in.cluster.Status.Reverted)
		for n, app := range in.apps {
			world.Get(t, app)
			require.Equal(t, generations[n], app.Generation, "it is there already")
		}
	})
	t.Run("deleted", func(t *testing.T) {
		t.Parallel()
		in := newReverting(t, 2)
		in.ask(t, "warn", crashes)
		harness.Until(t, world, in.cluster, "the revert", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.Reverted != nil })
		world.RemoveCluster(t, in.cluster)
		for _, app := range in.apps {
			harness.Until(t, world, app, "removal", isClean)
		}
	})
	t.Run("with a large spec", func(t *testing.T) {
		t.Parallel()
		in := newReverting(t, 2)
		large := strings.Repeat("# a line that says nothing\n", 200<<10/27)
		give := func(level, image string) {
			harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
				c.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: level, Image: image, Config: &v1alpha1.ConfigSpec{
					Inline: large + "sources: {in: {type: internal_metrics}}\nsinks: {out: {type: blackhole, inputs: [in]}}\n",
				}}
			})
		}
		give("info", "")
		in.untilGood(t)
		give("warn", crashes)
		in.untilBack(t)
	})
	t.Run("beside another", func(t *testing.T) {
		t.Parallel()
		in, other := newReverting(t, 2), clusterOf(t)
		other.Name += "-other"
		other.Spec.NamespaceSelector.MatchLabels["team"] = in.cluster.Name
		other.Spec.Sidecar = &v1alpha1.SidecarSpec{Name: "other", LogLevel: "info", Metrics: &v1alpha1.MetricsSpec{Port: ptr.To[int32](9600)}, Health: &v1alpha1.HealthSpec{Port: ptr.To[int32](8688)}}
		t.Cleanup(func() { world.RemoveCluster(t, other) })
		world.Create(t, other)
		harness.Until(t, world, other, "readiness", injectedIn(2, 2))
		in.fail(t)
		harness.Until(t, world, other, "the unchanged state", injectedIn(2, 2))
		require.Nil(t, other.Status.Reverted)
	})
	t.Run("where one of the namespace wins", func(t *testing.T) {
		t.Parallel()
		in := newReverting(t, 2)
		in.fail(t)
		own := objects.NewVectorSidecar("own", in.apps[1].Namespace).Selecting("logs", "vector").WithSoak(0).Build()
		own.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "error"}
		world.Create(t, own)
		harness.Until(t, world, in.apps[1], "the sidecar of its namespace, by its own spec", has("error"))
		harness.Until(t, world, in.cluster, "the reverted state, superseded by another VectorSidecar", func(c *v1alpha1.ClusterVectorSidecar) bool {
			return isClusterBack(c) && c.Status.MatchedWorkloads == 2 && c.Status.ReadyWorkloads == 1
		})
		require.NoError(t, world.Client.Delete(t.Context(), own))
		harness.Until(t, world, in.apps[1], "the last known good spec again", has("info"))
		in.untilBack(t)
	})
}

// With waves, a changed spec fails after its wave got the revision. The operator reverts the spec, and keeps the
// revision.
func TestClusterVectorSidecar_RevertsChangeFailedInItsWave(t *testing.T) {
	installation := wavesOf(t, "1s", "halt: {}\nonFailure: Revert")
	level(t, installation, "info")
	in := newInWaves(t)
	harness.Until(t, world, in.cluster, "its last known good spec", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastKnownGood != nil })
	image := func(d *appsv1.Deployment) string { return d.Spec.Template.Spec.InitContainers[0].Image }
	world.Get(t, in.rest)
	good := image(in.rest)

	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Sidecar = &v1alpha1.SidecarSpec{Image: crashes} })
	harness.Until(t, world, in.cluster, "its own revert", isClusterBack)
	for _, wave := range []string{"canary", "default"} {
		require.Equal(t, v1alpha1.RolloutComplete, partOf(in.cluster, wave).State, "the installation is not at fault")
		require.Equal(t, in.before, partOf(in.cluster, wave).Revision)
	}

	level(t, installation, "debug")
	for _, app := range []*appsv1.Deployment{in.canary, in.rest} {
		harness.Until(t, world, app, "the next revision with the last known good spec", func(d *appsv1.Deployment) bool { return logLevel(d) == "debug" && image(d) == good })
	}
	untilPart(t, in.cluster, "default", v1alpha1.RolloutComplete, "")
	second := partOf(in.cluster, "default").Revision
	require.NotEqual(t, in.before, second)
	harness.Until(t, world, in.cluster, "the reverted state", isClusterBack)

	// If a revision fails with the last known good spec, the operator reverts the revision.
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: trace, image: " + crashes + "}"
	})
	untilPart(t, in.cluster, "canary", v1alpha1.RolloutReverted, second)
	untilPart(t, in.cluster, "default", v1alpha1.RolloutHalted, second)
	harness.Until(t, world, in.canary, "the previous revision", func(d *appsv1.Deployment) bool { return logLevel(d) == "debug" && image(d) == good })
}
