// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/controlplane"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func testRolloutCommandsFollowTheWaves(t *testing.T, plane *controlplane.ControlPlane, w *harness.World) {
	home := w.Namespace(t)
	operator := objects.NewDeployment("operator", home).Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=values"}
	values := objects.NewConfigMap("values", home, desired.RolloutKey, "waves: [{name: canary, soak: 1h, environments: [staging]}]\nhalt: {}")
	w.Create(t, operator)
	w.SetValues(t, values)
	rollout := func(arguments ...string) string {
		return string(runs(t, append(append([]string{"rollout"}, arguments...), "--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home)...))
	}
	var first struct{ Revision string }
	require.NoError(t, json.Unmarshal([]byte(rollout("status", "-o", "json")), &first))
	require.Len(t, first.Revision, 10)

	// This is the previous revision, as the operator stores it.
	before := &fleet.Content{Values: fleet.Files{Data: map[string]string{"development.yaml": "sidecar: {logLevel: error}\n"}}}
	for n, content := range []*fleet.Content{before, {}} {
		parts, whole, err := content.Records(home, "values", int64(n+1))
		require.NoError(t, err)
		for _, one := range append(parts, *whole) {
			w.Create(t, &one)
		}
	}
	require.Equal(t, first.Revision, (&fleet.Content{}).Revision())

	namespace := w.Namespace(t)
	finished := metav1.NewTime(time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC))
	report := func(name string, change func(*v1alpha1.RolloutStatus)) {
		vs := &v1alpha1.VectorSidecar{}
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: name}, vs))
		was := vs.DeepCopy()
		if vs.Status.Rollout == nil {
			vs.Status.Rollout = &v1alpha1.RolloutStatus{}
		}
		change(vs.Status.Rollout)
		require.NoError(t, w.Client.Status().Patch(t.Context(), vs, client.MergeFrom(was)))
	}
	for name, status := range map[string]v1alpha1.RolloutStatus{
		"done":    {Wave: "canary", Revision: first.Revision, State: v1alpha1.RolloutSoaking, CompletionTime: &finished},
		"failed":  {Wave: "canary", Revision: first.Revision, State: v1alpha1.RolloutProgressing, FailedRevision: first.Revision, FailedWorkloads: 2},
		"waiting": {Wave: "default", Revision: before.Revision(), CompletionTime: &finished, State: v1alpha1.RolloutWaiting, Message: "wave canary is not done"},
	} {
		w.Create(t, objects.NewVectorSidecar(name, namespace).Selecting("logs", name).Build())
		report(name, func(is *v1alpha1.RolloutStatus) { *is = status })
	}
	require.Equal(t, "revision "+first.Revision+"; revision "+first.Revision+` halted: 2 workloads failed
WAVE      DONE                          PROGRESSING   WAITING   HALTED   REVERTED   FAILED WORKLOADS   SOAKS UNTIL
canary    1/2    ##########..........   1             0         0        0          2                  2026-11-23T13:00:00Z
default   0/1    ....................   0             1         0        0          0                  -
`+namespace+`/failed: Progressing
`+namespace+`/waiting: Waiting: wave canary is not done
`, rollout("status"))

	w.Create(t, objects.NewDeployment("app", namespace).Labeled("logs", "waiting").Build())
	preview := func(arguments ...string) string {
		return string(runs(t, append(arguments, "-n", namespace, "--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home)...))
	}
	require.Contains(t, preview("render", "app"), "value: error", "a preview has the revision that the operator renders")
	isOvertaken := func(is *v1alpha1.RolloutStatus) { is.CompletionTime = nil }
	report("waiting", isOvertaken)
	require.Contains(t, preview("plan"), "WaitingForWave", "and knows what it does not write")

	annotation := func(key string) string {
		var now corev1.ConfigMap
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKeyFromObject(values), &now))
		return now.Annotations[key]
	}
	require.Equal(t, "configmap/values annotated: revision "+first.Revision+" continues\n", rollout("promote", "canary"))
	require.Equal(t, first.Revision+"/canary", annotation(meta.AnnotationPromoteRollout))
	rollout("retry")
	require.NotEmpty(t, annotation(meta.AnnotationRetryRollout))

	lines := strings.Split(strings.TrimSpace(rollout("history")), "\n")
	require.Len(t, lines, 3)
	require.Regexp(t, "^"+first.Revision+` +2026-\d\d-\d\dT\S+Z +2 +2 +present$`, lines[1])
	require.Regexp(t, "^"+before.Revision()+` +2026-\d\d-\d\dT\S+Z +1 +0 *$`, lines[2])
	to := func(revision string) string { return rollout("undo", "--yes", "--to-revision", revision) }
	require.Contains(t, to(before.Revision()), "configmap/values annotated: all VectorSidecars move from revision "+first.Revision+" to "+before.Revision()+"\n")
	require.Equal(t, first.Revision+"/"+before.Revision(), annotation(meta.AnnotationUndoRollout))
	require.Contains(t, rollout("status"), "revision "+before.Revision())
	require.Equal(t, "revision "+first.Revision+" is already undone; nothing changes\n", rollout("undo", "--yes"))
	require.Contains(t, to(first.Revision), "from revision "+before.Revision()+" to "+first.Revision)
	require.Empty(t, annotation(meta.AnnotationUndoRollout), "and back")
	flags := []string{"--kubeconfig", plane.Kubeconfig(), "--operator-namespace", home}
	require.Equal(t, "--- "+before.Revision()+`/values/development.yaml
+++ `+first.Revision+`/values/development.yaml
@@ -1 +0,0 @@
-sidecar: {logLevel: error}
`, string(exits(t, 1, append([]string{"rollout", "diff", before.Revision()}, flags...)...)))
	require.Empty(t, rollout("diff", first.Revision, first.Revision))
	file := func(text string) fleet.Files {
		return fleet.Files{Data: map[string]string{"templates/_container.tpl": text + "\n"}}
	}
	older := []*fleet.Content{{Values: file("a"), BuiltIn: file("one")}, {Values: file("a"), Roll: "1", BuiltIn: file("two")}}
	for _, content := range older {
		parts, whole, err := content.Records(home, "values", 0)
		require.NoError(t, err)
		for _, one := range append(parts, *whole) {
			require.NoError(t, client.IgnoreAlreadyExists(w.Client.Create(t.Context(), &one)))
		}
	}
	require.Equal(t, "--- "+older[0].Revision()+`/built-in/templates/_container.tpl
+++ `+older[1].Revision()+`/built-in/templates/_container.tpl
@@ -1 +1 @@
-one
+two
`, string(exits(t, 1, append([]string{"rollout", "diff", older[0].Revision(), older[1].Revision()}, flags...)...)))
	require.NotContains(t, string(exits(t, 1, append([]string{"rollout", "diff", older[0].Revision()}, flags...)...)), "built-in", "of the present one they are not known")

	own := func(key string) string {
		var vs v1alpha1.VectorSidecar
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "done"}, &vs))
		return vs.Annotations[key]
	}
	require.Contains(t, rollout("undo", "done", "-n", namespace, "--yes", "--to-revision", before.Revision()), "vectorsidecar/done annotated: moves from revision "+first.Revision+" to "+before.Revision()+"\n")
	require.Equal(t, first.Revision+"/"+before.Revision(), own(meta.AnnotationUndoRollout))
	require.Contains(t, rollout("undo", "done", "-n", namespace, "--yes", "--to-revision", first.Revision), "like all others")
	require.Empty(t, own(meta.AnnotationUndoRollout))
	require.Contains(t, rollout("promote", "vectorsidecar/done", "-n", namespace), "vectorsidecar/done annotated: revision "+first.Revision+" starts without waiting for a wave")
	require.Equal(t, first.Revision, own(meta.AnnotationPromoteRollout))

	require.Contains(t, rollout("retry", "vectorsidecar/done", "-n", namespace), "vectorsidecar/done annotated: earlier failures no longer block the VectorSidecar")
	require.NotEmpty(t, own(meta.AnnotationRetryRollout))
	report("done", func(*v1alpha1.RolloutStatus) {})
	was := &v1alpha1.VectorSidecar{}
	require.NoError(t, w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "done"}, was))
	waits := was.DeepCopy()
	waits.Status.ObservedGeneration, waits.Status.Deferred = waits.Generation, &v1alpha1.DeferredStatus{Workloads: 2, Change: "0123456789abcdef"}
	require.NoError(t, w.Client.Status().Patch(t.Context(), waits, client.MergeFrom(was)))
	require.Contains(t, rollout("promote", "vectorsidecar/done", "-n", namespace), "vectorsidecar/done annotated: change 0123456789abcdef starts in the deferred workloads (2)")
	require.Equal(t, "0123456789abcdef", own(meta.AnnotationPromoteRollout))
	waits = was.DeepCopy()
	waits.Status.ObservedGeneration, waits.Status.Canary = waits.Generation, &v1alpha1.CanaryStatus{Change: "0123456789abcdef", State: v1alpha1.CanaryWithoutPods}
	require.NoError(t, w.Client.Status().Patch(t.Context(), waits, client.MergeFrom(was)))
	require.Contains(t, rollout("promote", "vectorsidecar/done", "-n", namespace), "vectorsidecar/done annotated: change 0123456789abcdef starts in all workloads without waiting for a canary")
	require.Equal(t, "canary0123456789abcdef", own(meta.AnnotationPromoteRollout))
	require.Contains(t, rollout("status"), "wave canary: deferred workloads wait for the application owner or a promotion (spec.rollout.mode): 2")

	rollout("pause")
	_, err := time.Parse(time.RFC3339, annotation(meta.AnnotationStopWrites))
	require.NoError(t, err)
	require.Contains(t, preview("plan"), "WritesStopped")
	line, _, _ := strings.Cut(rollout("status"), "\n")
	require.Contains(t, line, "; all writes except removals are stopped since ")
	require.Contains(t, rollout("pause"), "unchanged: all writes except removals are stopped")
	rollout("resume")
	require.Empty(t, annotation(meta.AnnotationStopWrites))
	isPaused := func() bool {
		var vs v1alpha1.VectorSidecar
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKey{Namespace: namespace, Name: "done"}, &vs))
		return vs.Spec.Rollout != nil && vs.Spec.Rollout.Paused
	}
	require.Equal(t, "vectorsidecar/done: no more rollouts start\n", rollout("pause", "done", "-n", namespace))
	require.True(t, isPaused())
	require.Equal(t, "vectorsidecar/done: rollouts start again\n", rollout("resume", "done", "-n", namespace))
	require.False(t, isPaused())
	testRevertedSpecs(t, w, client.ObjectKey{Namespace: namespace, Name: "failed"}, plane.Kubeconfig(), home)
	testClusterRollouts(t, w, rollout, first.Revision, before.Revision())
}

// testRevertedSpecs requires that a VectorSidecar with a reverted spec is listed, also without waves.
func testRevertedSpecs(t *testing.T, w *harness.World, name client.ObjectKey, kubeconfig, home string) {
	t.Helper()
	bare := w.Namespace(t)
	operator := objects.NewDeployment("operator", bare).Labeled("app.kubernetes.io/component", "operator").Build()
	operator.Spec.Template.Spec.Containers[0].Args = []string{"--environments-configmap=values"}
	w.Create(t, operator)
	w.SetValues(t, objects.NewConfigMap("values", bare, "development.yaml", "sidecar: {}"))
	status := func(home string, more ...string) []string {
		return append([]string{"rollout", "status", "--kubeconfig", kubeconfig, "--operator-namespace", home}, more...)
	}
	exits(t, 2, status(bare)...) // There is nothing to show.

	vs := &v1alpha1.VectorSidecar{}
	require.NoError(t, w.Client.Get(t.Context(), name, vs))
	was := vs.DeepCopy()
	vs.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: "0123456789abcdef", Generation: 3, Spec: "{}"}
	vs.Status.Reverted = &v1alpha1.RevertedSpec{Digest: lastgood.Digest(&vs.Spec), Generation: 4, FailedWorkloads: 2, RevertTime: metav1.Now()}
	require.NoError(t, w.Client.Status().Patch(t.Context(), vs, client.MergeFrom(was)))
	want := name.String() + ": Reverted: the spec of generation 4 (digest " + vs.Status.Reverted.Digest + ") failed in 2 workloads; the workloads run the spec of generation 3"
	for _, home := range []string{home, bare} {
		require.Contains(t, string(runs(t, status(home)...)), "\n"+want)
		var found struct{ RevertedSpecs []string }
		require.NoError(t, json.Unmarshal(runs(t, status(home, "-o", "json")...), &found))
		require.Len(t, found.RevertedSpecs, 1)
		require.Contains(t, found.RevertedSpecs[0], want)
	}
}

// testClusterRollouts runs the commands on a ClusterVectorSidecar in two waves.
func testClusterRollouts(t *testing.T, w *harness.World, rollout func(...string) string, present, before string) {
	t.Helper()
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "all"}}
	cluster.Spec.Selector.MatchLabels = map[string]string{"logs": "vector"}
	w.Create(t, cluster)
	t.Cleanup(func() { remove(t, w, []client.Object{cluster}) })
	was := cluster.DeepCopy()
	cluster.Status.LastKnownGood = &v1alpha1.LastKnownGoodSpec{Digest: "0123456789abcdef", Generation: 3, Spec: "{}"}
	cluster.Status.Reverted = &v1alpha1.RevertedSpec{Digest: lastgood.Digest(&cluster.Spec.VectorSidecarSpec), Generation: 4, FailedWorkloads: 2, Namespace: "shop", RevertTime: metav1.Now()}
	cluster.Status.Waves = []v1alpha1.RolloutStatus{
		{Wave: "canary", Revision: present, State: v1alpha1.RolloutHalted, FailedRevision: present, FailedWorkloads: 3, Message: "three failed"},
		{Wave: "default", Revision: before, State: v1alpha1.RolloutWaiting, Failures: []v1alpha1.RolloutFailure{{
			Revision: before, Namespace: "shop", Kind: "Deployment", Name: "cart", Reason: meta.ReasonOOMKilled, Container: "vector", Message: "container vector was killed",
		}}},
	}
	require.NoError(t, w.Client.Status().Patch(t.Context(), cluster, client.MergeFrom(was)))
	status := rollout("status")
	require.Regexp(t, `canary +1/3 .* 1 +0 +1 +0 +5 `, status)
	require.Contains(t, status, "\nclustervectorsidecar/all: Halted: three failed\n")
	require.Contains(t, status, "\nclustervectorsidecar/all: Reverted: the spec of generation 4 (digest "+cluster.Status.Reverted.Digest+") failed in 2 workloads of namespace shop; the workloads run the spec of generation 3")
	failure := "\nclustervectorsidecar/all: Deployment shop/cart failed with revision " + before + ": OOMKilled: container vector was killed\n"
	require.Contains(t, status, failure)
	var waves struct {
		Waves []struct{ Failures []v1alpha1.RolloutFailure }
	}
	require.NoError(t, json.Unmarshal([]byte(rollout("status", "-o", "json")), &waves))
	require.Equal(t, cluster.Status.Waves[1].Failures, waves.Waves[1].Failures)
	history := rollout("history")
	require.Regexp(t, before+` .* 2 +1 *\n`, history)
	require.Contains(t, history, failure)

	read := func() *v1alpha1.ClusterVectorSidecar {
		require.NoError(t, w.Client.Get(t.Context(), client.ObjectKeyFromObject(cluster), cluster))
		return cluster
	}
	name := "clustervectorsidecar/all"
	require.Contains(t, rollout("undo", name, "--yes", "--to-revision", before), name+" annotated: moves from revision "+present+" to "+before+"\n")
	require.Equal(t, present+"/"+before, read().Annotations[meta.AnnotationUndoRollout])
	require.Equal(t, name+" annotated: revision "+present+" starts without waiting for a wave\n", rollout("promote", name))
	require.Equal(t, present, read().Annotations[meta.AnnotationPromoteRollout])
	require.Contains(t, rollout("retry", name), name+" annotated: earlier failures no longer block the VectorSidecar")
	require.NotEmpty(t, read().Annotations[meta.AnnotationRetryRollout])
	require.Equal(t, name+": no more rollouts start\n", rollout("pause", name))
	require.True(t, read().Spec.Rollout.Paused)
	require.Equal(t, name+": rollouts start again\n", rollout("resume", name))
	require.False(t, read().Spec.Rollout.Paused)
}
