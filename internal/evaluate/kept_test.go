// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package evaluate

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
	"kontroloop.ai/vector-sidecar-operator/test/predecessor"
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
	require.NotEmpty(t, after.Plans[0].Keeps, after.Plans[0].Message)
	return s, before
}

func live() *v1alpha1.VectorSidecar {
	return logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Reload = v1alpha1.ReloadLive }).Build()
}

// A configuration that is no longer rendered cannot be restored.
func TestASidecarWhoseConfigurationIsGoneIsNotKept(t *testing.T) {
	s, _ := keeping(t, logs().Build())
	memory := newMemory()
	memory.decide(t, s)
	s.Companions = nil

	decided := memory.decide(t, s)

	require.Equal(t, plan.Update, decided.Plans[0].Action, "with the next pod it could not start")
	require.Len(t, decided.Missing, 1)
}

// One whose name stays can be restored without a new pod.
func TestALiveConfigurationIsMendedUnderASidecarThatIsKept(t *testing.T) {
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
			require.Empty(t, decided.Missing, "what the release before wrote stays")
			happen(s)

			decided = memory.decide(t, s)

			require.Equal(t, plan.None, decided.Plans[0].Action)
			require.Len(t, decided.Missing, 1)
		})
	}
}

func TestANewWorkloadGetsWhatIsRenderedNowBesideOneThatKeeps(t *testing.T) {
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{"restarting": logs().Build(), "reloading": live()} {
		t.Run(name, func(t *testing.T) {
			s, before := keeping(t, sidecar)
			fresh := objects.NewDeployment("basket", "shop").Labelled("logs", "vector").Build()
			kept := s.Workloads
			s.Workloads = slices.Concat(snapshot(t, sidecar, fresh).Workloads, kept)

			decided := decide(t, s)

			require.Equal(t, plan.Inject, decided.Plans[0].Action)
			require.Equal(t, plan.None, decided.Plans[1].Action)
			require.Len(t, decided.Companions, 1)
			after := carryOut(t, s, decided, fresh)
			after.Companions = written(decided.Companions)
			if decided.Companions[0].Name != before.Companions[0].Name {
				after.Companions = append(after.Companions, s.Companions...)
			}
			after.Workloads = append(after.Workloads, kept...)
			decided = decide(t, after)
			require.Equal(t, []plan.Action{plan.None, plan.None}, []plan.Action{decided.Plans[0].Action, decided.Plans[1].Action})
			require.Empty(t, decided.Missing)
			require.Empty(t, decided.Obsolete, "both are mounted")
		})
	}
}

// A note takes no place in the budget, is not blocked and makes no loop.
func TestANoteHoldsNoSlot(t *testing.T) {
	var deployments []*appsv1.Deployment
	for _, name := range []string{"a", "b", "c"} {
		deployments = append(deployments, objects.NewDeployment(name, "shop").Labelled("logs", "vector").Build())
	}
	paced := logs().WithMaxConcurrent("1").Build()
	s := snapshot(t, logs().WithMaxConcurrent("100%").Build(), deployments...)
	s = carryOut(t, s, decide(t, s), deployments...)
	s.Sidecar = paced
	s.Platform = given(t, map[string]string{desired.PolicyKey: "users: {min: 1000}"}, nil)

	decided := decide(t, s)

	for i := range decided.Plans {
		require.Equal(t, plan.Note, decided.Plans[i].Action)
		require.True(t, decided.Plans[i].Writes())
		require.Equal(t, 0, simulate.Turns([]simulate.Paced{{Plans: decided.Plans, Limit: decided.Limit}}, nil)[0][i])
	}
	require.Empty(t, decided.Missing)
	s = carryOut(t, s, decided, deployments...)
	for _, p := range decide(t, s).Plans {
		require.Equal(t, plan.None, p.Action, "it is written down")
	}
}

// Workloads written by a release without notes get them with the next change only.
func TestAWorkloadWithoutNotesIsLeftAlone(t *testing.T) {
	deployment := cart()
	s := snapshot(t, logs().Build(), deployment)
	s = carryOut(t, s, decide(t, s), deployment)
	s.Workloads = nil
	for _, key := range []string{meta.AnnotationAskedHash, meta.AnnotationAppliedHash} {
		require.Contains(t, deployment.Annotations, key)
		delete(deployment.Annotations, key)
	}
	s = carryOut(t, s, &decision.Decision{Plans: make([]plan.Plan, 1)}, deployment)

	require.Equal(t, plan.None, decide(t, s).Plans[0].Action)
	s.Platform = releaseOf(t, nextRelease, nil, nil)
	require.Equal(t, plan.Update, decide(t, s).Plans[0].Action, "nobody can tell what it was asked for with")
}

// withAggregator is an installation whose environments have an aggregator.
var withAggregator = map[string]string{
	"development.yaml": "global: {aggregator: {address: aggregator:6000}}", "production.yaml": "global: {aggregator: {address: aggregator:6000}}",
}

// What such a release rendered for the current input is found by rendering as it did:
// its API listens on all addresses, and stays there until something else changes.
func TestWhatAReleaseWithoutNotesRenderedIsKept(t *testing.T) {
	mounting := logs().WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) { s.Logs.Containers = []string{"*"} })
	for name, sidecar := range map[string]*v1alpha1.VectorSidecar{
		"restarting": logs().Build(), "reloading": live(), "mounting": mounting.Build(), "in production": mounting.InEnvironment("production").Build(),
	} {
		t.Run(name, func(t *testing.T) {
			deployment := cart()
			s := snapshot(t, sidecar, deployment)
			today := releaseOf(t, nil, withAggregator, nil)
			s.Platform = platformOf(t, predecessor.Chart(t), nil, withAggregator, nil)
			first := decide(t, s)
			require.Contains(t, first.Companions[0].Data["vector.yaml"], "address: 0.0.0.0:8686")
			s = carryOut(t, s, first, deployment)
			delete(deployment.Annotations, meta.AnnotationAskedHash)
			delete(deployment.Annotations, meta.AnnotationAppliedHash)
			s = carryOut(t, s, &decision.Decision{Plans: make([]plan.Plan, 1)}, deployment)
			s.Platform = today

			kept := decide(t, s)
			require.Equal(t, plan.None, kept.Plans[0].Action, kept.Plans[0].Message)
			require.NotEmpty(t, kept.Plans[0].Keeps)
			require.Empty(t, kept.Missing)
			require.Empty(t, kept.Obsolete, "its next pods read it")

			fresh := objects.NewDeployment("basket", "shop").Labelled("logs", "vector").Build()
			beside := *s
			beside.Workloads = slices.Concat(snapshot(t, sidecar, fresh).Workloads, s.Workloads)
			both := decide(t, &beside)
			require.Equal(t, []plan.Action{plan.Inject, plan.None}, []plan.Action{both.Plans[0].Action, both.Plans[1].Action})
			require.Len(t, both.Missing, 1)
			require.NotEqual(t, first.Companions[0].Name, both.Missing[0].Name, "whose pods are asked elsewhere")
			require.Contains(t, both.Missing[0].Data["vector.yaml"], "address: 127.0.0.1:8686")

			changed := *s
			changed.Sidecar = sidecar.DeepCopy()
			changed.Sidecar.Spec.Environment = "staging"
			require.Equal(t, plan.Update, decide(t, &changed).Plans[0].Action, "it is asked for something else")
			deployment.Spec.Template.Spec.InitContainers[0].ImagePullPolicy = corev1.PullAlways
			touched := carryOut(t, s, &decision.Decision{Plans: make([]plan.Plan, 1)}, deployment)
			require.Equal(t, plan.Update, decide(t, touched).Plans[0].Action, "somebody has changed it")
		})
	}
}

// The user's ConfigMap is no companion and does not matter to a sidecar that is kept.
func TestASidecarIsKeptWithAConfigurationOfTheUsers(t *testing.T) {
	deployment := cart()
	s := snapshot(t, logs().WithConfigMap("own", "vector.yaml").Build(), deployment)
	s.ConfigMaps = only("own", objects.NewConfigMap("own", "shop", "vector.yaml", objects.VectorConfig("a")))
	s = carryOut(t, s, decide(t, s), deployment)
	s.Platform = releaseOf(t, nextRelease, nil, nil)
	require.NotEmpty(t, decide(t, s).Plans[0].Keeps)
	s.ConfigMaps = nil
	require.Equal(t, meta.ReasonConfigMapNotFound, decide(t, s).Invalid.Reason)
}
