// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// partOf returns the state of a wave in the status of a ClusterVectorSidecar.
func partOf(cluster *v1alpha1.ClusterVectorSidecar, wave string) *v1alpha1.RolloutStatus {
	for i := range cluster.Status.Waves {
		if cluster.Status.Waves[i].Wave == wave {
			return &cluster.Status.Waves[i]
		}
	}
	return nil
}

// untilPart waits until a wave of a ClusterVectorSidecar has a state and a revision; "" matches all revisions.
func untilPart(t *testing.T, cluster *v1alpha1.ClusterVectorSidecar, wave string, state v1alpha1.RolloutState, revision string) {
	t.Helper()
	harness.Until(t, world, cluster, "state "+string(state)+" of wave "+wave, func(c *v1alpha1.ClusterVectorSidecar) bool {
		is := partOf(c, wave)
		return is != nil && is.State == state && (revision == "" || is.Revision == revision)
	})
}

// inWaves is a ClusterVectorSidecar with a workload in a namespace of each of two waves.
type inWaves struct {
	cluster        *v1alpha1.ClusterVectorSidecar
	canary, rest   *appsv1.Deployment
	before, others string
}

// newInWaves creates the objects, and waits until both waves are finished. before is their revision, and others is
// the namespace in the last wave.
func newInWaves(t *testing.T) *inWaves {
	t.Helper()
	return inWavesOf(t, clusterOf(t))
}

// inWavesOf is newInWaves for a ClusterVectorSidecar that selects namespaces by the label team, which is its name.
func inWavesOf(t *testing.T, cluster *v1alpha1.ClusterVectorSidecar) *inWaves {
	t.Helper()
	one := &inWaves{cluster: cluster}
	one.others = world.Namespace(t, "team", one.cluster.Name)
	one.canary, one.rest = labeled("cart", world.Namespace(t, "team", one.cluster.Name, "wave", "canary")), labeled("cart", one.others)
	world.Create(t, one.canary, one.rest, one.cluster)
	untilPart(t, one.cluster, "canary", v1alpha1.RolloutComplete, "")
	one.before = partOf(one.cluster, "canary").Revision
	untilPart(t, one.cluster, "default", v1alpha1.RolloutComplete, one.before)
	harness.Until(t, world, one.cluster, "readiness", injectedIn(2, 2))
	harness.Until(t, world, one.canary, "its rollout", isRolledOut)
	return one
}

func has(level string) func(*appsv1.Deployment) bool {
	return func(d *appsv1.Deployment) bool { return logLevel(d) == level }
}

// A revision reaches the default wave only after the canary wave has soaked, and a new workload gets the revision of
// its wave.
func TestClusterVectorSidecar_RollsOutNamespacesInWaves(t *testing.T) {
	installation := wavesOf(t, "12s", "")
	in, alone := newInWaves(t), newInWave(t, "other")
	alone.until(t, v1alpha1.RolloutComplete, in.before)

	level(t, installation, "warn")
	harness.Until(t, world, in.canary, "the change", has("warn"))
	untilPart(t, in.cluster, "canary", v1alpha1.RolloutSoaking, "")
	untilPart(t, in.cluster, "default", v1alpha1.RolloutWaiting, in.before)
	harness.Until(t, world, in.cluster, "the time of the next wave", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return strings.Contains(partOf(c, "default").Message, "soaks until")
	})
	requireRecorded(t, "cluster-waiting-for-wave", in.cluster, "Ready=True UpToDate")
	alone.until(t, v1alpha1.RolloutWaiting, in.before)
	finished := partOf(in.cluster, "canary").CompletionTime.Time
	restart(t)
	late := labeled("late", in.others)
	world.Create(t, late)
	harness.Until(t, world, late, "the revision of its wave", isInjected)
	require.NotEqual(t, "warn", logLevel(late), "it is rendered from the revision before")
	world.Get(t, in.rest)
	require.NotEqual(t, "warn", logLevel(in.rest))

	harness.Until(t, world, in.rest, "the change", has("warn"))
	harness.Until(t, world, late, "the change", has("warn"))
	alone.until(t, v1alpha1.RolloutComplete, partOf(in.cluster, "canary").Revision)
	untilPart(t, in.cluster, "default", v1alpha1.RolloutComplete, partOf(in.cluster, "canary").Revision)
	require.GreaterOrEqual(t, partOf(in.cluster, "default").StartTime.Sub(finished), 12*time.Second, "the wave before has soaked")

	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) { c.Spec.Sidecar = &v1alpha1.SidecarSpec{LogLevel: "trace"} })
	harness.Until(t, world, in.rest, "its own change without a wait", has("trace"))
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.RolloutKey] = "" })
	harness.Until(t, world, in.cluster, "no waves", func(c *v1alpha1.ClusterVectorSidecar) bool { return len(c.Status.Waves) == 0 })
}

func TestClusterVectorSidecar_HaltsRevisionFailedInAWave(t *testing.T) {
	installation := wavesOf(t, "8s", "halt: {failedWorkloads: 1}")
	in, alone := newInWaves(t), newInWave(t, "other")
	alone.until(t, v1alpha1.RolloutComplete, in.before)

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:dies}"
	})
	untilPart(t, in.cluster, "canary", v1alpha1.RolloutHalted, "")
	untilPart(t, in.cluster, "default", v1alpha1.RolloutHalted, in.before)
	alone.until(t, v1alpha1.RolloutHalted, in.before)
	require.Equal(t, int32(1), partOf(in.cluster, "canary").FailedWorkloads)
	requireRecorded(t, "cluster-halted", in.cluster, "Stalled=True CrashLoopBackOff")
	require.Zero(t, partOf(in.cluster, "default").FailedWorkloads)
	failed := partOf(in.cluster, "canary").Revision
	restart(t)
	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationReconcileAt, "again")
	})
	harness.Until(t, world, in.cluster, "a handled request", func(c *v1alpha1.ClusterVectorSidecar) bool { return c.Status.LastHandledReconcileAt == "again" })
	world.Get(t, in.rest)
	require.NotEqual(t, "warn", logLevel(in.rest), "a halt outlasts a restart")

	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		metav1.SetMetaDataAnnotation(&c.ObjectMeta, meta.AnnotationUndoRollout, failed+"/"+in.before)
	})
	harness.Until(t, world, in.canary, "the revert", func(d *appsv1.Deployment) bool { return logLevel(d) != "warn" })
	untilPart(t, in.cluster, "canary", v1alpha1.RolloutReverted, in.before)
	level(t, installation, "info")
	harness.Until(t, world, in.rest, "another change", has("info"))
	alone.until(t, v1alpha1.RolloutComplete, "")
}

// If a VectorSidecar of an earlier wave halts a revision, ClusterVectorSidecars do not start it in later waves.
func TestClusterVectorSidecar_DoesNotStartHaltedRevision(t *testing.T) {
	installation := wavesOf(t, "8s", "halt: {failedWorkloads: 1}")
	first, cluster := newInWave(t, "canary"), clusterOf(t)
	deployment := labeled("cart", world.Namespace(t, "team", cluster.Name))
	world.Create(t, deployment, cluster)
	first.until(t, v1alpha1.RolloutComplete, "")
	untilPart(t, cluster, "default", v1alpha1.RolloutComplete, "")
	harness.Until(t, world, first.app, "its rollout", isRolledOut)
	before := partOf(cluster, "default").Revision

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn, image: registry.example/vector:dies}"
	})
	first.until(t, v1alpha1.RolloutHalted, "")
	untilPart(t, cluster, "default", v1alpha1.RolloutHalted, before)
	world.Get(t, deployment)
	require.NotEqual(t, "warn", logLevel(deployment))
}

// A workload failed before a revision. Its failures do not halt the revision, those of other workloads do.
func TestHalt_IgnoresWorkloadsThatFailedBefore(t *testing.T) {
	installation := wavesOf(t, "1s", "")
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data[desired.PolicyKey] = "overrides: {workloads: [sidecar.image]}" })
	in := newInWaves(t)
	harness.Change(t, world, in.canary, func(d *appsv1.Deployment) {
		metav1.SetMetaDataAnnotation(&d.ObjectMeta, meta.AnnotationValuesPrefix+"sidecar.image", "registry.example/vector:dies")
	})
	harness.Until(t, world, in.cluster, "a broken workload", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return slices.ContainsFunc(c.Status.Workloads, func(one v1alpha1.NamespacedWorkloadStatus) bool {
			return one.Namespace == in.canary.Namespace && strings.Contains(one.Message, "exited with code 1")
		})
	})

	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: warn}"
		c.Data[desired.RolloutKey] += "halt: {failedWorkloads: 1}"
	})
	harness.Until(t, world, in.rest, "the change in spite of the broken workload", has("warn"))
	untilPart(t, in.cluster, "default", v1alpha1.RolloutComplete, "")
	require.Zero(t, partOf(in.cluster, "canary").FailedWorkloads)

	fresh := labeled("cart", world.Namespace(t, "team", in.cluster.Name, "wave", "canary"))
	world.Create(t, fresh)
	harness.Until(t, world, fresh, "its sidecar", func(d *appsv1.Deployment) bool { return isInjected(d) && isRolledOut(d) })
	harness.Change(t, world, installation, func(c *corev1.ConfigMap) {
		c.Data["development.yaml"] = "sidecar: {logLevel: error, image: registry.example/vector:dies}"
		c.Data[desired.RolloutKey] = strings.Replace(c.Data[desired.RolloutKey], "soak: 1s", "soak: 8s", 1)
	})
	untilPart(t, in.cluster, "default", v1alpha1.RolloutHalted, "")
	require.Equal(t, int32(1), partOf(in.cluster, "canary").FailedWorkloads, "the other one alone")
	world.Get(t, in.rest)
	require.NotEqual(t, "error", logLevel(in.rest))
}

// A namespace moves to another wave. It keeps its revision until that wave starts the next one.
func TestClusterVectorSidecar_KeepsRevisionOnWaveChange(t *testing.T) {
	installation := wavesOf(t, "3s", "")
	cluster := clusterOf(t)
	first, second := world.Namespace(t, "team", cluster.Name), world.Namespace(t, "team", cluster.Name)
	moves, stays := labeled("cart", first), labeled("cart", second)
	world.Create(t, moves, stays, cluster)
	untilPart(t, cluster, "default", v1alpha1.RolloutComplete, "")
	harness.Until(t, world, cluster, "readiness", injectedIn(2, 2))
	require.Nil(t, partOf(cluster, "canary"))
	world.Get(t, moves)
	before, generation := partOf(cluster, "default").Revision, moves.Generation

	harness.Change(t, world, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: first}}, func(n *corev1.Namespace) { metav1.SetMetaDataLabel(&n.ObjectMeta, "wave", "canary") })
	untilPart(t, cluster, "canary", v1alpha1.RolloutComplete, before)
	world.Get(t, moves)
	require.Equal(t, generation, moves.Generation)
	level(t, installation, "warn")
	untilPart(t, cluster, "default", v1alpha1.RolloutWaiting, before)
	harness.Until(t, world, moves, "the change", has("warn"))
	harness.Until(t, world, stays, "the change", has("warn"))
	harness.Until(t, world, cluster, "the started rollouts of the new wave", func(c *v1alpha1.ClusterVectorSidecar) bool { return partOf(c, "canary").StartTime != nil })
}

// The leader changes at each step of a rollout in waves. Each workload rolls once, and the second wave waits until the
// first one has finished and soaked.
func TestClusterVectorSidecar_ContinuesWavesAcrossLeaders(t *testing.T) {
	installation := wavesOf(t, "2s", "halt: {}")
	in := newInWaves(t)
	second := labeled("second", in.canary.Namespace)
	world.Create(t, second)
	harness.Until(t, world, in.cluster, "readiness", injectedIn(2, 3))
	all := []*appsv1.Deployment{in.canary, second, in.rest}
	before := map[string]int64{}
	for _, one := range all {
		harness.Until(t, world, one, "its rollout", isRolledOut)
		before[one.Namespace+one.Name] = one.Generation
	}

	level(t, installation, "warn")
	isOn := func(wave string) func(*v1alpha1.ClusterVectorSidecar) bool {
		return func(c *v1alpha1.ClusterVectorSidecar) bool { return partOf(c, wave).Revision != in.before }
	}
	harness.Until(t, world, in.cluster, "the start of the first wave", isOn("canary"))
	restart(t)
	harness.Until(t, world, in.canary, "the change", has("warn"))
	restart(t)
	harness.Until(t, world, second, "the change", has("warn"))
	harness.Until(t, world, in.cluster, "the end of the first wave", func(c *v1alpha1.ClusterVectorSidecar) bool {
		return isOn("canary")(c) && partOf(c, "canary").CompletionTime != nil
	})
	finished := partOf(in.cluster, "canary").CompletionTime.Time
	restart(t)
	harness.Until(t, world, in.cluster, "the start of the second wave", isOn("default"))
	restart(t)
	harness.Until(t, world, in.rest, "the change", has("warn"))
	untilPart(t, in.cluster, "default", v1alpha1.RolloutComplete, partOf(in.cluster, "canary").Revision)
	require.GreaterOrEqual(t, partOf(in.cluster, "default").StartTime.Sub(finished), 2*time.Second, "the wave before has soaked")
	for _, one := range all {
		world.Get(t, one)
		require.Equal(t, before[one.Namespace+one.Name]+1, one.Generation, "%s rolls once", one.Name)
	}
}

// Changes have waited for maxAge. They start in waves, and the status has the start before the first write, so that the
// next leader continues after a crash.
func TestClusterVectorSidecar_StartsInWavesAfterMaxAge(t *testing.T) {
	installation := wavesOf(t, "1s", "halt: {}")
	in := newInWaves(t)
	harness.Change(t, world, in.cluster, func(c *v1alpha1.ClusterVectorSidecar) {
		c.Spec.Rollout.Mode, c.Spec.Rollout.MaxAge = v1alpha1.ModeOnAppRollout, &metav1.Duration{Duration: 6 * time.Second}
	})
	level(t, installation, "warn")
	harness.Until(t, world, in.cluster, "the waiting change in all workloads", func(c *v1alpha1.ClusterVectorSidecar) bool {
		isDeferred := func(one v1alpha1.NamespacedWorkloadStatus) bool { return one.State == string(v1alpha1.StateDeferred) }
		return len(c.Status.Workloads) == 2 && !slices.ContainsFunc(c.Status.Workloads, func(one v1alpha1.NamespacedWorkloadStatus) bool { return !isDeferred(one) }) &&
			partOf(c, "default").Revision != in.before && partOf(c, "default").CompletionTime != nil
	})
	was, waits := partOf(in.cluster, "canary").StartTime, time.Now()
	require.Nil(t, was, "nothing has begun")

	harness.Until(t, world, in.canary, "the pending change", has("warn"))
	harness.Until(t, world, in.rest, "the pending change", has("warn"))
	untilPart(t, in.cluster, "default", v1alpha1.RolloutComplete, partOf(in.cluster, "canary").Revision)
	var order []string
	for _, write := range running.Requests.Writes("") {
		switch {
		case write.At.Before(waits):
		case strings.HasSuffix(write.Path, "/clustervectorsidecars/"+in.cluster.Name+"/status"):
			order = append(order, "status")
		case strings.Contains(write.Path, "/namespaces/"+in.canary.Namespace+"/deployments/"):
			order = append(order, "canary")
		case strings.Contains(write.Path, "/namespaces/"+in.others+"/deployments/"):
			order = append(order, "default")
		}
	}
	first, second := slices.Index(order, "canary"), slices.Index(order, "default")
	require.Contains(t, order[:max(first, 0)], "status", "the status first: %v", order)
	require.Contains(t, order[first:max(second, first)], "status", "and then the next wave: %v", order)
	require.False(t, partOf(in.cluster, "default").StartTime.Before(partOf(in.cluster, "canary").CompletionTime), "it waits for the wave before")
}
