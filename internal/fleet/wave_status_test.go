// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// The namespaces of a ClusterVectorSidecar move to a wave in which it had none. The state there starts with that of the
// neighboring wave, without its failures.
func TestLastStatus_UsesStatusOfNeighboringWave(t *testing.T) {
	rules, err := Parse("rollout", []byte(threeWaves))
	require.NoError(t, err)
	finished := metav1.NewTime(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	early := v1alpha1.RolloutStatus{Wave: "early", Revision: "two", Previous: "one", CompletionTime: &finished, StartTime: &finished, FailedRevision: "two", FailedWorkloads: 3}
	rest := v1alpha1.RolloutStatus{Wave: DefaultWave, Revision: "one"}
	require.Nil(t, rules.LastStatus(nil, 0))
	require.Nil(t, rules.LastStatus([]v1alpha1.RolloutStatus{{Wave: "of yesterday", Revision: "one"}}, 0))
	require.Equal(t, &rest, rules.LastStatus([]v1alpha1.RolloutStatus{early, rest}, 2), "its own")

	canary := rules.LastStatus([]v1alpha1.RolloutStatus{rest, early}, 0)
	require.Equal(t, "two", canary.Revision, "the wave after it, where its namespaces were")
	require.Equal(t, "one", canary.Previous)
	require.Equal(t, &finished, canary.CompletionTime)
	require.Nil(t, canary.StartTime, "nothing has begun in this wave")
	require.Empty(t, canary.FailedRevision)
	require.Zero(t, canary.FailedWorkloads, "what failed counts once")
	require.Equal(t, "two", rules.LastStatus([]v1alpha1.RolloutStatus{early}, 2).Revision, "the one before, if there is none after it")
}

// The progress of a ClusterVectorSidecar in a wave is the sum of the progress of its namespaces.
func TestSumProgress_CombinesProgressOfNamespaces(t *testing.T) {
	require.Equal(t, Progress{IsDone: true, Generation: 3}, SumProgress([]Progress{{IsDone: true}, {IsDone: true}}, 3))
	require.Equal(t, Progress{IsStarted: true, Failed: 3}, SumProgress([]Progress{{IsDone: true, Failed: 1}, {IsStarted: true, Failed: 2}}, 0))
	require.Equal(t, Progress{IsPaused: true, IsLate: true, IsDone: true}, SumProgress([]Progress{{IsDone: true, IsPaused: true}, {IsDone: true, IsLate: true}}, 0))
	require.False(t, SumProgress(nil, 1).IsDone, "of what nobody has looked at, nothing is known")
}

// A ClusterVectorSidecar has namespaces in two waves. Its later wave waits for its earlier one.
func TestWaves_SupportSidecarInSeveralWaves(t *testing.T) {
	rules, err := Parse("rollout", []byte(threeWaves))
	require.NoError(t, err)
	given, now := &Target{Rules: rules, Revision: "two"}, time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC)
	cluster, other := types.NamespacedName{Name: "clustervectorsidecar/logs"}, types.NamespacedName{Namespace: "shop", Name: "logs"}
	done := metav1.NewTime(now)
	has := func(revision string, finished *metav1.Time) *v1alpha1.RolloutStatus {
		return &v1alpha1.RolloutStatus{Revision: revision, CompletionTime: finished}
	}
	check := func(isKnown bool, inEarly *v1alpha1.RolloutStatus, ofCluster map[int]*v1alpha1.RolloutStatus) *Waves {
		statuses := []MemberStatus{{Name: other, Member: WaveMember{Wave: 1}, Status: inEarly}}
		for wave, is := range ofCluster {
			statuses = append(statuses, MemberStatus{Name: cluster, Member: WaveMember{Wave: wave}, Status: is})
		}
		return NewWaves(given, statuses, isKnown)
	}
	old := has("one", &done)
	require.False(t, check(false, old, nil).Gate(WaveMember{Wave: 1}, given, now).IsOpen, "not all are heard")

	before := check(true, old, map[int]*v1alpha1.RolloutStatus{0: has("two", nil), 2: old})
	for _, waits := range []Gate{before.Gate(WaveMember{Wave: 1}, given, now), before.Gate(WaveMember{Wave: 2}, given, now)} {
		require.False(t, waits.IsOpen)
		require.Equal(t, "waiting for ClusterVectorSidecar logs of wave canary to finish revision two", waits.Message)
		require.Equal(t, 0, waits.Wave)
	}
	require.True(t, before.Gate(WaveMember{Wave: 0}, given, now).IsOpen)
	require.Equal(t, []WaveCount{{Wave: "canary", Progressing: 1}, {Wave: "early", Waiting: 1}, {Wave: DefaultWave, Waiting: 1}}, before.Count())

	waves := check(true, old, map[int]*v1alpha1.RolloutStatus{0: has("two", &done), 2: old})
	require.ElementsMatch(t, []types.NamespacedName{cluster, other}, waves.AffectedSince(before), "each once")
	require.True(t, waves.Gate(WaveMember{Wave: 1}, given, now).IsOpen)
	behind := waves.Gate(WaveMember{Wave: 2}, given, now)
	require.Equal(t, "waiting for VectorSidecar shop/logs of wave early to finish revision two", behind.Message)
	require.Equal(t, 1, behind.Wave)

	failed := has("two", nil)
	failed.FailedRevision, failed.FailedWorkloads = "two", 1
	waves = check(true, old, map[int]*v1alpha1.RolloutStatus{0: failed, 2: failed})
	require.True(t, waves.Gate(WaveMember{Wave: 1}, given, now).IsHalted, "one workload in each of two waves")
	require.True(t, check(true, old, nil).Gate(WaveMember{Wave: 1}, given, now).IsOpen)
}

// Two states that differ only in their messages are equivalent, so that a changed message causes no status write.
func TestRevisionState_IgnoresMessagesInComparison(t *testing.T) {
	now := metav1.NewTime(time.Date(2026, 11, 25, 12, 0, 0, 0, time.UTC))
	stage := RevisionState{Status: v1alpha1.RolloutStatus{Revision: "one", Message: "a"}, Gate: Gate{Message: "a", Wave: 1}}
	same := stage
	same.Gate.Message, same.Status.Message = "b", "b"
	require.True(t, stage.IsEquivalentTo(&same))
	for name, change := range map[string]func(*RevisionState){
		"revision": func(s *RevisionState) { s.Status.Revision = "two" },
		"started":  func(s *RevisionState) { s.Status.StartTime = &now },
		"finished": func(s *RevisionState) { s.Status.CompletionTime = &now },
		"failed":   func(s *RevisionState) { s.Status.FailedRevision = "one" },
		"held":     func(s *RevisionState) { s.IsHeld = true },
		"halted":   func(s *RevisionState) { s.Gate.IsHalted = true },
		"open":     func(s *RevisionState) { s.Gate.IsOpen = true },
		"wave":     func(s *RevisionState) { s.Gate.Wave = 2 },
		"until":    func(s *RevisionState) { s.Gate.Until = now.Time },
	} {
		other := stage
		change(&other)
		require.False(t, stage.IsEquivalentTo(&other), name)
	}
}
