// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

// A revision fails in a wave. The status lists each failed workload, and the file and line of a failed template. The
// entries stay until a revision is finished, and the plugin prints them.
func TestClusterVectorSidecar_RecordsFailuresOfWaves(t *testing.T) {
	deployOperator(t)
	installation := wavesOf(t, "8s", "halt: {failedWorkloads: 1}")
	in := newInWaves(t)
	fail := func(values, before string) (revision string) {
		harness.Change(t, world, installation, func(c *corev1.ConfigMap) { c.Data["development.yaml"] = values })
		harness.Until(t, world, in.cluster, "the halt and its entry", func(c *v1alpha1.ClusterVectorSidecar) bool {
			canary := partOf(c, "canary")
			return canary.State == v1alpha1.RolloutHalted && canary.Revision != before && len(canary.Failures) > 0 &&
				canary.Failures[len(canary.Failures)-1].Revision == canary.Revision
		})
		return partOf(in.cluster, "canary").Revision
	}
	first := fail("sidecar: {logLevel: warn, image: registry.example/vector:dies}", in.before)
	failures := partOf(in.cluster, "canary").Failures
	require.Len(t, failures, 1)
	require.Contains(t, failures[0].Message, "exited with code 1")
	require.LessOrEqual(t, len(failures[0].Message), 256)
	failures[0].Message = ""
	require.Equal(t, v1alpha1.RolloutFailure{
		Revision: first, Namespace: in.canary.Namespace, Kind: "Deployment", Name: "cart", Reason: meta.ReasonCrashLoopBackOff, Container: "vector",
	}, failures[0])
	require.Empty(t, partOf(in.cluster, "default").Failures)

	second := fail("sidecar: {image: ''}", first)
	world.Get(t, in.cluster)
	failures = partOf(in.cluster, "canary").Failures
	require.Len(t, failures, 2, "a new revision does not remove the entry of the one before")
	require.Equal(t, first, failures[0].Revision)
	require.Equal(t, second, failures[1].Revision)
	require.Equal(t, meta.ReasonInvalidTemplate, failures[1].Reason)
	require.Regexp(t, `_container\.tpl:\d+`, failures[1].Message)
	requirePrintedFailures(t, in.cluster)
	check, notes, code := rolloutPlugin(t, "check")
	require.Equal(t, 1, code, notes)
	require.Regexp(t, `revision `+second+` halted: .*`+in.cluster.Name+`: .*_container\.tpl:\d+`, check)

	level(t, installation, "info")
	harness.Until(t, world, in.rest, "the fix", func(d *appsv1.Deployment) bool { return logLevel(d) == "info" })
	for _, wave := range []string{"canary", "default"} {
		untilPart(t, in.cluster, wave, v1alpha1.RolloutComplete, "")
		require.Empty(t, partOf(in.cluster, wave).Failures, "a finished revision removes all entries of wave %s", wave)
	}
}

// requirePrintedFailures compares the plugin's output for the wave canary with the status.
func requirePrintedFailures(t *testing.T, cluster *v1alpha1.ClusterVectorSidecar) {
	t.Helper()
	failures, name := partOf(cluster, "canary").Failures, "clustervectorsidecar/"+cluster.Name
	status, notes, code := rolloutPlugin(t, "rollout", "status")
	require.Less(t, code, 2, notes)
	history, notes, code := rolloutPlugin(t, "rollout", "history")
	require.Zero(t, code, notes)
	for i := range failures {
		line := name + ": " + failures[i].Text() + "\n"
		require.Contains(t, status, line)
		require.Contains(t, history, line)
	}

	type printed struct {
		VectorSidecar string
		v1alpha1.RolloutFailure
	}
	var want, inStatus, inHistory []printed
	for _, failure := range failures {
		want = append(want, printed{name, failure})
	}
	ofCluster := func(all []printed) (own []printed) {
		for _, one := range all {
			if one.VectorSidecar == name {
				own = append(own, one)
			}
		}
		return own
	}
	var waves struct {
		Waves []struct {
			Name     string
			Failures []printed
		}
	}
	status, notes, code = rolloutPlugin(t, "rollout", "status", "-o", "json")
	require.Less(t, code, 2, notes)
	require.NoError(t, json.Unmarshal([]byte(status), &waves))
	for _, wave := range waves.Waves {
		if found := ofCluster(wave.Failures); wave.Name == "canary" {
			inStatus = found
		} else {
			require.Empty(t, found)
		}
	}
	var revisions []struct{ Failures []printed }
	history, notes, code = rolloutPlugin(t, "rollout", "history", "-o", "json")
	require.Zero(t, code, notes)
	require.NoError(t, json.Unmarshal([]byte(history), &revisions))
	for _, revision := range revisions {
		inHistory = append(inHistory, ofCluster(revision.Failures)...)
	}
	require.Equal(t, want, inStatus)
	require.ElementsMatch(t, want, inHistory)
}
