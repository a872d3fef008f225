// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package status

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	apimeta "k8s.io/apimachinery/pkg/api/meta"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// withoutPods is a workload that needs nothing and has no pods.
func withoutPods(p *plan.Plan) {
	p.Workload.Evidence = 0
	p.Rollout.Reason, p.Rollout.Message = meta.ReasonWithoutPods, "no pod has run the sidecar: it has 0 replicas"
}

// heldBack is a workload that keeps all of its pods.
func heldBack(p *plan.Plan) { p.Workload.Rollout, p.Workload.Evidence = workload.PodsNotReplaced, 0 }

// Workloads whose pods have not run the sidecar are counted separately, not as ready.
func TestNewSidecarStatus_CountsWorkloadsWithoutPods(t *testing.T) {
	cron := planned("report", plan.None, heldBack)
	cron.Target.Kind = "CronJob"
	got := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(
		planned("cart", plan.None),
		planned("empty", plan.None, withoutPods),
		planned("partly", plan.None, rollout(workload.PodsNotReplaced)),
		planned("lost", plan.None, rollout(workload.RolloutUnavailable), func(p *plan.Plan) { p.Workload.Evidence = 0 }),
		planned("removed", plan.None, nothingWanted, withoutPods),
		cron,
	)}, noon)

	require.EqualValues(t, 1, got.ReadyWorkloads)
	require.EqualValues(t, 1, got.Total().Ready)
	require.EqualValues(t, 2, got.WorkloadsWithoutPods, "a Deployment with 0 replicas and a CronJob before its next run")
	require.EqualValues(t, 5, got.InjectedWorkloads)
	for _, kind := range got.Kinds {
		require.EqualValues(t, 1, kind.WithoutPods, kind.Kind)
	}
	require.EqualValues(t, 2, got.Total().WithoutPods)
	require.Contains(t, got.Workloads, v1alpha1.WorkloadStatus{
		Kind: "Deployment", Name: "empty", State: v1alpha1.StateWithoutPods, Reason: meta.ReasonWithoutPods, Message: "no pod has run the sidecar: it has 0 replicas",
	})
}

// The condition Ready names the workloads without pods.
func TestNewSidecarStatus_NamesWorkloadsWithoutPodsInReady(t *testing.T) {
	got := NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(planned("cart", plan.None), planned("empty", plan.None, withoutPods))}, noon)
	ready := apimeta.FindStatusCondition(got.Conditions, meta.ConditionReady)
	require.True(t, apimeta.IsStatusConditionTrue(got.Conditions, meta.ConditionReady))
	require.Equal(t, meta.ReasonUpToDate, ready.Reason)
	require.Contains(t, ready.Message, "1 of 2 Deployments run the current sidecar, 1 have no pods that run the sidecar (Deployment shop/empty: no pod has run the sidecar: it has 0 replicas)")
}

func TestNewClusterStatus_CountsNamespacesWithoutPods(t *testing.T) {
	in := func(plans ...plan.Plan) *lastgood.NamespaceStatus {
		return &lastgood.NamespaceStatus{VectorSidecarStatus: NewSidecarStatus(Facts{Sidecar: sidecar(), Decision: decided(plans...)}, noon)}
	}
	got := NewClusterStatus(ClusterFacts{Cluster: &v1alpha1.ClusterVectorSidecar{}, Namespaces: map[string]*lastgood.NamespaceStatus{
		"with-pods":       in(planned("cart", plan.None)),
		"with-some":       in(planned("cart", plan.None), planned("empty", plan.None, withoutPods)),
		"with-a-held-pod": in(planned("partly", plan.None, rollout(workload.PodsNotReplaced)), planned("empty", plan.None, withoutPods)),
		"without-pods":    in(planned("empty", plan.None, withoutPods)),
		"before-a-run":    in(planned("report", plan.None, heldBack)),
		"skipped":         in(planned("cart", plan.None, nothingWanted, stops(plan.BlockedByOptOut, meta.ReasonOptedOut, "no"))),
		"at-work":         in(planned("cart", plan.None, rollout(workload.RolloutProgressing)), planned("empty", plan.None, withoutPods)),
	}}, noon)

	require.EqualValues(t, 7, got.SelectedNamespaces)
	require.EqualValues(t, 4, got.ReadyNamespaces)
	require.EqualValues(t, 2, got.NamespacesWithoutPods)
	require.EqualValues(t, 2, got.ReadyWorkloads)
	require.EqualValues(t, 5, got.WorkloadsWithoutPods)
}

// The status contains a finished canary until all workloads of its namespace are ready.
func TestNewClusterStatus_KeepsFinishedCanaries(t *testing.T) {
	in := func(state v1alpha1.CanaryState, ready, matched int32) *lastgood.NamespaceStatus {
		return &lastgood.NamespaceStatus{VectorSidecarStatus: v1alpha1.VectorSidecarStatus{
			Canary: &v1alpha1.CanaryStatus{Change: "new", State: state}, ReadyWorkloads: ready, MatchedWorkloads: matched,
		}}
	}
	entry := func(namespace, change string) v1alpha1.FinishedCanary {
		return v1alpha1.FinishedCanary{Namespace: namespace, Change: change}
	}
	var many []v1alpha1.FinishedCanary
	namespaces := map[string]*lastgood.NamespaceStatus{}
	for n := range v1alpha1.MaxFinishedCanaries + 1 {
		name := fmt.Sprintf("n%04d", n)
		namespaces[name] = in(v1alpha1.CanaryFinished, 1, 2)
		many = append(many, entry(name, "new"))
	}
	for name, test := range map[string]struct {
		before     []v1alpha1.FinishedCanary
		namespaces map[string]*lastgood.NamespaceStatus
		unseen     int
		want       []v1alpha1.FinishedCanary
	}{
		"one workload is not ready":        {nil, map[string]*lastgood.NamespaceStatus{"b": in(v1alpha1.CanaryFinished, 1, 2), "a": in(v1alpha1.CanaryFinished, 0, 2)}, 0, []v1alpha1.FinishedCanary{entry("a", "new"), entry("b", "new")}},
		"all are ready":                    {[]v1alpha1.FinishedCanary{entry("a", "new")}, map[string]*lastgood.NamespaceStatus{"a": in(v1alpha1.CanaryFinished, 2, 2)}, 0, nil},
		"the canary rolls out":             {[]v1alpha1.FinishedCanary{entry("a", "old")}, map[string]*lastgood.NamespaceStatus{"a": in(v1alpha1.CanaryProgressing, 1, 2)}, 0, nil},
		"the canary has no pods":           {nil, map[string]*lastgood.NamespaceStatus{"a": in(v1alpha1.CanaryWithoutPods, 1, 2)}, 0, nil},
		"another change":                   {[]v1alpha1.FinishedCanary{entry("a", "old")}, map[string]*lastgood.NamespaceStatus{"a": in(v1alpha1.CanaryFinished, 1, 2)}, 0, []v1alpha1.FinishedCanary{entry("a", "new")}},
		"a namespace has not reported yet": {[]v1alpha1.FinishedCanary{entry("a", "old"), entry("c", "old")}, map[string]*lastgood.NamespaceStatus{"b": in(v1alpha1.CanaryFinished, 1, 2), "c": in(v1alpha1.CanaryFinished, 2, 2)}, 1, []v1alpha1.FinishedCanary{entry("a", "old"), entry("b", "new")}},
		"a namespace is gone":              {[]v1alpha1.FinishedCanary{entry("a", "old")}, map[string]*lastgood.NamespaceStatus{"b": in(v1alpha1.CanaryFinished, 2, 2)}, 0, nil},
		"too many":                         {nil, namespaces, 0, many[:v1alpha1.MaxFinishedCanaries]},
	} {
		t.Run(name, func(t *testing.T) {
			cluster := &v1alpha1.ClusterVectorSidecar{}
			cluster.Status.FinishedCanaries = test.before
			got := NewClusterStatus(ClusterFacts{Cluster: cluster, Namespaces: test.namespaces, UnreportedNamespaces: test.unseen}, noon)
			require.Equal(t, test.want, got.FinishedCanaries)
		})
	}
}
