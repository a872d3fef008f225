// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// otherConfig has the next release render another configuration, too.
var otherConfig = map[string]string{"imagePullPolicy: {{": "terminationMessagePolicy: FallbackToLogsOnError\n  imagePullPolicy: {{", `"data_dir"`: `"timezone" "UTC" "data_dir"`}

// keeping is a VectorSidecar whose workload keeps the sidecar of the previous release.
func keeping(t *testing.T, sidecar *v1alpha1.VectorSidecar) (s *Snapshot, before *decision.Decision) {
	t.Helper()
	deployment := cart()
	s = snapshot(t, sidecar, deployment)
	before = decide(t, s)
	s = carryOut(t, s, before, deployment)
	s.Platform = releaseOf(t, otherConfig, nil, nil)
	after := decide(t, s)
	require.NotEmpty(t, after.Plans[0].Existing.UnchangedHash, after.Plans[0].Message())
	return s, before
}

func live() *v1alpha1.VectorSidecar {
	return logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build()
}

// The companion ConfigMap that an earlier release rendered is missing, and cannot be rendered again. The workload gets
// the current rendering.
func TestDecide_UpdatesEarlierRenderingIfConfigIsMissing(t *testing.T) {
	s, _ := keeping(t, logs().Build())
	memory := newMemory()
	memory.decide(t, s)
	s.Companions = nil

	decided := memory.decide(t, s)

	require.Equal(t, plan.Update, decided.Plans[0].Change, "with the next pod it could not start")
	require.Len(t, decided.Missing, 1)
}

// A ConfigMap with the name of a companion that does not belong to the VectorSidecar is a conflict, also if the workload
// before keeps its sidecar and does not need the companion.
func TestDecide_FindsForeignConfigMapNextToKeptSidecar(t *testing.T) {
	s, _ := keeping(t, logs().Build())
	s.Workloads = append(s.Workloads, snapshot(t, s.Sidecar, objects.NewDeployment("web", "shop").Labeled("logs", "vector").Build()).Workloads...)
	missing := newMemory().decide(t, s).Missing
	require.Len(t, missing, 1)
	s.ConfigMaps = only(missing[0].Name, objects.NewConfigMap(missing[0].Name, "shop", "a", "b"))

	decided := newMemory().decide(t, s) // Both workloads have the same rendering, from the cache.

	require.NotNil(t, decided.Invalid)
	require.Equal(t, meta.ReasonConflict, decided.Invalid.Reason)
	require.True(t, decided.Plans[1].IsBlockedBy(plan.BlockedByError))
}

// With Live, the name of the companion ConfigMap does not change, so a missing or changed one is restored without new
// pods.
func TestDecide_RestoresLiveConfigOfEarlierRendering(t *testing.T) {
	for name, happen := range map[string]func(*Snapshot){
		"gone": func(s *Snapshot) { s.Companions = nil },
		"changed": func(s *Snapshot) {
			s.Companions[0].Data["vector.yaml"], s.Companions[0].ResourceVersion = "sources: {}", "2"
		},
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := keeping(t, live())
			memory := newMemory()
			decided := memory.decide(t, s)
			require.Empty(t, decided.Missing, "what is there stays")
			happen(s)

			decided = memory.decide(t, s)

			require.Equal(t, plan.None, decided.Plans[0].Change)
			require.Len(t, decided.Missing, 1)
		})
	}
}

// After an upgrade, new workloads get the current rendering, and workloads with an earlier rendering stay unchanged.
func TestDecide_UsesCurrentRenderingForNewWorkloads(t *testing.T) {
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{"restarting": logs().Build(), "reloading": live()} {
		t.Run(name, func(t *testing.T) {
			s, before := keeping(t, sidecar)
			fresh := objects.NewDeployment("basket", "shop").Labeled("logs", "vector").Build()
			kept := s.Workloads
			s.Workloads = slices.Concat(snapshot(t, sidecar, fresh).Workloads, kept)

			decided := decide(t, s)

			require.Equal(t, plan.Inject, decided.Plans[0].Change)
			require.Equal(t, plan.None, decided.Plans[1].Change)
			require.Len(t, decided.Companions, 1)
			after := carryOut(t, s, decided, fresh)
			after.Companions = written(decided.Companions)
			if decided.Companions[0].Name != before.Companions[0].Name {
				after.Companions = append(after.Companions, s.Companions...)
			}
			after.Workloads = append(after.Workloads, kept...)
			decided = decide(t, after)
			require.Equal(t, []plan.Change{plan.None, plan.None}, []plan.Change{decided.Plans[0].Change, decided.Plans[1].Change})
			require.Empty(t, decided.Missing)
			require.Empty(t, decided.Obsolete, "both are mounted")
		})
	}
}

// A write that changes only annotations uses no rollout slot, does not wait, and does not count for a correction loop.
func TestDecide_UsesNoSlotForRecordOnlyWrites(t *testing.T) {
	var deployments []*appsv1.Deployment
	for _, name := range []string{"a", "b", "c"} {
		deployments = append(deployments, objects.NewDeployment(name, "shop").Labeled("logs", "vector").Build())
	}
	paced := logs().WithMaxConcurrent("1").Build()
	s := snapshot(t, logs().WithMaxConcurrent("100%").Build(), deployments...)
	s = carryOut(t, s, decide(t, s), deployments...)
	s.Sidecar = paced
	s.Platform = given(t, map[string]string{desired.PolicyKey: "users: {min: 1000}"}, nil)

	decided := decide(t, s)

	for i := range decided.Plans {
		require.Equal(t, plan.RecordOnly, decided.Plans[i].Change)
		require.True(t, decided.Plans[i].Writes())
		require.Equal(t, 0, simulate.Batches([]simulate.PacedPlans{{Plans: decided.Plans, Limit: decided.Limit}}, &fleet.Rules{})[0][i])
	}
	require.Empty(t, decided.Missing)
	s = carryOut(t, s, decided, deployments...)
	for _, p := range decide(t, s).Plans {
		require.Equal(t, plan.None, p.Change, "it is written down")
	}
}

// If another client removes the annotation with the input hash, the operator writes it again without new pods, so that
// a later change is noticed.
func TestDecide_RestoresRemovedInputHash(t *testing.T) {
	deployment := cart()
	s := snapshot(t, logs().Build(), deployment)
	s = carryOut(t, s, decide(t, s), deployment)
	s.Workloads = nil
	for _, key := range []string{meta.AnnotationInputHash, meta.AnnotationAppliedHash} {
		require.Contains(t, deployment.Annotations, key)
		delete(deployment.Annotations, key)
	}
	s = carryOut(t, s, &decision.Decision{Plans: make([]plan.Plan, 1)}, deployment)
	next := *s
	next.Platform = releaseOf(t, nextRelease, nil, nil)
	require.Equal(t, plan.Update, decide(t, &next).Plans[0].Change)

	decided := decide(t, s)

	require.Equal(t, plan.RecordOnly, decided.Plans[0].Change)
	s = carryOut(t, s, decided, deployment)
	require.Equal(t, plan.None, decide(t, s).Plans[0].Change)
}

// A sidecar of an earlier rendering reads the user's ConfigMap, not a companion. It stays unchanged, also if that
// ConfigMap is missing, which is reported.
func TestDecide_KeepsEarlierRenderingWithUserConfigMap(t *testing.T) {
	deployment := cart()
	s := snapshot(t, logs().WithConfigMap("own", "vector.yaml").Build(), deployment)
	s.ConfigMaps = only("own", objects.NewConfigMap("own", "shop", "vector.yaml", objects.VectorConfig("a")))
	s = carryOut(t, s, decide(t, s), deployment)
	s.Platform = releaseOf(t, nextRelease, nil, nil)
	require.NotEmpty(t, decide(t, s).Plans[0].Existing.UnchangedHash)
	s.ConfigMaps = objects.ConfigMapSet{}
	require.Equal(t, meta.ReasonConfigMapNotFound, decide(t, s).Invalid.Reason)
}
