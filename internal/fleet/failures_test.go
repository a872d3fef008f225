// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// fails is progress of a VectorSidecar with failed Deployments.
func fails(reason string, names ...string) Progress {
	progress := Progress{IsStarted: true, Failed: len(names)}
	for _, name := range names {
		progress.Failures = append(progress.Failures, v1alpha1.RolloutFailure{Namespace: "shop", Kind: "Deployment", Name: name, Reason: reason})
	}
	return progress
}

// recorded lists failures as REVISION/NAME/REASON.
func recorded(is *v1alpha1.RolloutStatus) (texts []string) {
	for _, failure := range is.Failures {
		texts = append(texts, failure.Revision+"/"+failure.Name+"/"+failure.Reason)
	}
	return texts
}

// The recorded failures stay until the VectorSidecar has finished a revision.
func TestRevisionState_KeepsFailuresUntilRevisionFinished(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.onFailure = v1alpha1.OnFailureRevert
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, fails("CrashLoopBackOff", "b", "a"))
	require.Equal(t, []string{"two/a/CrashLoopBackOff", "two/b/CrashLoopBackOff"}, recorded(f.is[0]))
	f.passes(nothing)
	require.Equal(t, "one", f.is[0].Revision)
	require.Equal(t, v1alpha1.RolloutReverted, f.is[0].State)
	require.NotNil(t, f.is[0].CompletionTime, "the way back is finished")
	require.Len(t, f.is[0].Failures, 2)
	require.Empty(t, f.is[1].Failures, "it has not had the revision")

	f.given.Revision = "three"
	f.pass(0, fails("OOMKilled", "a"))
	f.pass(0, fails("OOMKilled", "a", "b"))
	require.Equal(t, []string{"two/a/CrashLoopBackOff", "two/b/CrashLoopBackOff", "three/a/OOMKilled", "three/b/OOMKilled"}, recorded(f.is[0]))
	f.restart()
	f.passes(nothing)
	require.Len(t, f.is[0].Failures, 4, "another leader knows of them")

	f.given.Revision = "four"
	f.pass(0, rolling)
	require.Len(t, f.is[0].Failures, 4, "a new revision does not remove them")
	f.pass(0, nothing)
	require.Empty(t, f.is[0].Failures)
	f.now = f.now.Add(time.Minute)
	f.pass(0, fails("CrashLoopBackOff", "a", "b"))
	require.Len(t, f.is[0].Failures, 2, "during the soak")
	f.pass(0, nothing)
	require.Len(t, f.is[0].Failures, 2)

	f.given.Revision = "one"
	f.passes(nothing)
	require.Empty(t, f.is[0].Failures)
}

// A VectorSidecar has reverted to the previous revision. If the values return to it, it is finished, and the recorded
// failures are dropped.
func TestRevisionState_DropsFailuresAfterReturn(t *testing.T) {
	f := newFleet(t, threeWaves, 3)
	f.onFailure = v1alpha1.OnFailureRevert
	f.passes(nothing)
	f.given.Revision = "two"
	f.pass(0, fails("CrashLoopBackOff", "a", "b"))
	f.passes(nothing)
	require.Len(t, f.is[0].Failures, 2)
	f.given.Revision = "one"
	f.passes(nothing)
	require.Empty(t, f.is[0].Failures)
}

// The number of recorded failures is limited. Some failures of each revision are kept.
func TestMergeFailures_KeepsFailuresOfEachRevision(t *testing.T) {
	merged := mergeFailures(nil, "one", fails("OOMKilled", "c", "b", "a").Failures)
	merged = mergeFailures(merged, "two", fails("OOMKilled", "a", "b", "c", "d", "e", "f").Failures)
	require.Equal(t, []string{"one/a/OOMKilled", "one/b/OOMKilled", "one/c/OOMKilled", "two/a/OOMKilled", "two/b/OOMKilled"}, recorded(&v1alpha1.RolloutStatus{Failures: merged}))

	again := fails("OOMKilled", "a").Failures
	again[0].Message = "of another pod"
	require.Equal(t, merged, mergeFailures(merged, "two", again), "the first message stays")
	again[0].Reason = "CrashLoopBackOff"
	require.Equal(t, "CrashLoopBackOff", mergeFailures(merged, "two", again)[3].Reason)
}
