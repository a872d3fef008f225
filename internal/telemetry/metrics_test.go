// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"flag"
	"iter"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

var update = flag.Bool("update", false, "regenerate docs/reference/metrics.md")

var logs = types.NamespacedName{Namespace: "shop", Name: "logs"}

func TestMetricsReference_MatchesDocumentation(t *testing.T) {
	const path = "../../docs/reference/metrics.md"
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(metricsReference()), 0o644))
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, metricsReference(), string(text), "go test ./internal/telemetry -update")
}

// Each documented metric is exported, and no other one.
func TestMetricDefinitions_EqualExportedMetrics(t *testing.T) {
	m := NewMetrics("1.2.3", time.Now)
	m.RecordDuration("render", time.Second)
	m.RecordWrite("Deployment", "Inject", "ok")
	m.SetLeftovers("Keep", 1)
	m.SetTemplateSets(1, 0)
	m.SetRequiredObjects("missing", 1)
	m.SetRolloutSlots("injection", 20, 5, 1)
	m.SetWaves([]fleet.WaveCount{{Wave: "canary", Waiting: 1}}, true)
	m.SetDeclaredObjects("Applied", 1)
	m.SetWritesStopped(true)
	m.AddCachedObjects("Deployment", 1)
	m.RecordAdmission(AnswerAllowed, time.Millisecond)
	m.SetCertificateValidity(time.Unix(0, 0), time.Unix(1, 0))
	m.SetSidecarState(logs, SidecarState{Ready: "False", Reason: "Conflict", Workloads: these(WorkloadState{UID: "1", State: "Conflict", Reason: "Conflict"})})
	inShop := types.NamespacedName{Namespace: "shop", Name: meta.ClusterSidecarName("logs")}
	m.SetSidecarState(inShop, SidecarState{Ready: "False", Reason: "Conflict", Workloads: these()})
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(m)

	families, err := registry.Gather()
	require.NoError(t, err)

	exported := map[string]MetricDefinition{}
	for _, family := range families {
		definition := MetricDefinition{Name: family.GetName(), Kind: strings.ToLower(family.GetType().String()), Help: family.GetHelp()}
		for _, pair := range family.GetMetric()[0].GetLabel() {
			definition.Labels = append(definition.Labels, MetricLabel{Name: pair.GetName()})
		}
		exported[definition.Name] = definition
	}
	for _, want := range MetricDefinitions() {
		got, found := exported[want.Name]
		require.True(t, found, "%s is not exported", want.Name)
		require.Equal(t, want.Kind, got.Kind, want.Name)
		require.Equal(t, want.Help, got.Help)
		require.ElementsMatch(t, want.labels(), got.labels(), want.Name)
		delete(exported, want.Name)
	}
	require.Empty(t, exported, "undocumented metrics")
	problems, err := testutil.GatherAndLint(registry)
	require.NoError(t, err)
	require.Empty(t, problems)
}

func these(all ...WorkloadState) iter.Seq[WorkloadState] { return slices.Values(all) }

// Workloads are counted by state and reason. Their names are not labels of the metric.
func TestWorkloadStates_CountByStateAndReason(t *testing.T) {
	m := NewMetrics("1.2.3", time.Now)
	audit := types.NamespacedName{Namespace: "shop", Name: "audit"}
	m.SetSidecarState(logs, SidecarState{Ready: "False", Reason: "RollingOut", Workloads: these(
		WorkloadState{UID: "1", Kind: "Deployment", State: "Updated"}, WorkloadState{UID: "2", Kind: "StatefulSet", State: "Updated"}, WorkloadState{UID: "3", Kind: "Deployment", State: "Waiting", Reason: "WaitingForSlot"},
	)})
	m.SetSidecarState(audit, SidecarState{Ready: "True", Reason: "UpToDate", Workloads: these(WorkloadState{UID: "1", Kind: "Deployment", State: "Updated"})})
	for _, namespace := range []string{"shop", "pay"} {
		m.SetSidecarState(types.NamespacedName{Namespace: namespace, Name: meta.ClusterSidecarName("logs")}, SidecarState{Ready: "True", Reason: "UpToDate", Workloads: these()})
	}
	m.SetSidecarState(types.NamespacedName{Name: meta.ClusterSidecarName("logs")}, SidecarState{Ready: "True", Reason: "UpToDate", Workloads: these()})

	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP vectorsidecar_workloads Workloads that a VectorSidecar matches or that have its sidecar. A workload that two VectorSidecars match counts twice.
# TYPE vectorsidecar_workloads gauge
vectorsidecar_workloads{kind="Deployment",reason="",state="Updated"} 2
vectorsidecar_workloads{kind="Deployment",reason="WaitingForSlot",state="Waiting"} 1
vectorsidecar_workloads{kind="StatefulSet",reason="",state="Updated"} 1
# HELP vectorsidecar_objects VectorSidecars and ClusterVectorSidecars by condition Ready.
# TYPE vectorsidecar_objects gauge
vectorsidecar_objects{ready="False",reason="RollingOut"} 1
vectorsidecar_objects{ready="True",reason="UpToDate"} 2
# HELP vectorsidecar_cluster_namespaces Namespaces of ClusterVectorSidecars by condition Ready there. A namespace counts once for each ClusterVectorSidecar that selects it.
# TYPE vectorsidecar_cluster_namespaces gauge
vectorsidecar_cluster_namespaces{ready="True",reason="UpToDate"} 2
`), workloads, objects, namespaces))

	m.SetSidecarState(logs, SidecarState{Ready: "False", Reason: "Retrying"})
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP vectorsidecar_workloads Workloads that a VectorSidecar matches or that have its sidecar. A workload that two VectorSidecars match counts twice.
# TYPE vectorsidecar_workloads gauge
vectorsidecar_workloads{kind="Deployment",reason="",state="Updated"} 2
vectorsidecar_workloads{kind="Deployment",reason="WaitingForSlot",state="Waiting"} 1
vectorsidecar_workloads{kind="StatefulSet",reason="",state="Updated"} 1
# HELP vectorsidecar_objects VectorSidecars and ClusterVectorSidecars by condition Ready.
# TYPE vectorsidecar_objects gauge
vectorsidecar_objects{ready="False",reason="Retrying"} 1
vectorsidecar_objects{ready="True",reason="UpToDate"} 2
`), workloads, objects), "a pass that failed has not looked at workloads")

	m.Forget(logs)
	require.NoError(t, testutil.CollectAndCompare(m, strings.NewReader(`
# HELP vectorsidecar_workloads Workloads that a VectorSidecar matches or that have its sidecar. A workload that two VectorSidecars match counts twice.
# TYPE vectorsidecar_workloads gauge
vectorsidecar_workloads{kind="Deployment",reason="",state="Updated"} 1
`), workloads))
}

// The metric is the time for which the oldest waiting workload has waited. It falls when that workload starts.
func TestOldestWaiting_IsAgeOfLongestWait(t *testing.T) {
	now := time.Unix(1000, 0)
	m := NewMetrics("1.2.3", func() time.Time { return now })
	oldest := func() float64 {
		_, _, _, age := m.states.countStates()
		return age.Seconds()
	}
	waiting := func(uids ...types.UID) SidecarState {
		var all []WorkloadState
		for _, uid := range uids {
			all = append(all, WorkloadState{UID: uid, State: "Waiting", Reason: "WaitingForSlot"})
		}
		return SidecarState{Workloads: these(all...)}
	}
	require.Zero(t, oldest())

	m.SetSidecarState(logs, waiting("1"))
	now = now.Add(time.Minute)
	m.SetSidecarState(logs, waiting("1", "2"))
	require.InDelta(t, 60, oldest(), 0, "another pass is no new beginning")
	m.SetSidecarState(logs, waiting("2"))
	require.Zero(t, oldest(), "the older one is gone")
	now = now.Add(time.Minute)
	require.InDelta(t, 60, oldest(), 0, "it grows without a pass")
	m.SetSidecarState(logs, SidecarState{Workloads: these(WorkloadState{UID: "2", State: "RollingOut"})})
	require.Zero(t, oldest())
}

// A conflict is counted when it starts, and not again while it lasts.
func TestConflicts_CountEachConflictOnce(t *testing.T) {
	m := NewMetrics("1.2.3", time.Now)
	stand := func(state, reason string) {
		m.SetSidecarState(logs, SidecarState{Workloads: these(WorkloadState{UID: "1", State: state, Reason: reason})})
	}
	counted := func(reason string) float64 { return testutil.ToFloat64(m.conflicts.WithLabelValues(reason)) }

	stand("Conflict", "Conflict")
	stand("Conflict", "Conflict")
	require.InDelta(t, 1, counted("Conflict"), 0, "a pass that finds the same is no new one")
	stand("Updated", "")
	stand("Conflict", "Conflict")
	require.InDelta(t, 2, counted("Conflict"), 0)
	stand("Blocked", "CorrectionLoop")
	require.InDelta(t, 1, counted("CorrectionLoop"), 0)
	stand("Waiting", "WaitingForSlot")
	require.Zero(t, counted("WaitingForSlot"))
}
