// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/simulate"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// BenchmarkPlanning is a pass over a thousand workloads with a cached rendering;
// figures are per workload.
func BenchmarkPlanning(b *testing.B) {
	const count = 1000
	sidecar := logs().WithLogs("/var/log/app").Build()
	bare, reducer := snapshot(b, sidecar), workloadcache.New()
	for _, deployment := range manyOf(count) {
		bare.Workloads = append(bare.Workloads, reducer.Reduce(deployment))
	}
	cache := desired.NewCache()
	decided, err := decision.Decide(b.Context(), bare, cache)
	require.NoError(b, err)
	merger, err := simulate.New()
	require.NoError(b, err)
	done := *bare
	done.Workloads = nil
	for n, deployment := range manyOf(count) {
		merged, err := merger.Workload(deployment, &decided.Plans[n])
		require.NoError(b, err)
		text, err := json.Marshal(merged)
		require.NoError(b, err)
		require.NoError(b, json.Unmarshal(text, deployment))
		done.Workloads = append(done.Workloads, reducer.Reduce(deployment))
	}
	done.Companions = []corev1.ConfigMap{}
	changed := done
	changed.Sidecar = logs().WithLogs("/var/log/app").Sidecar(func(s *v1alpha1.SidecarSpec) { s.LogLevel = "warn" }).Build()
	for name, test := range map[string]struct {
		snapshot *Snapshot
		want     plan.Change
		again    bool // Nothing has changed since the last pass.
	}{"to inject": {bare, plan.Inject, false}, "up to date": {&done, plan.None, false}, "to update": {&changed, plan.Update, false}, "unchanged": {&done, plan.None, true}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			first, err := decision.Decide(b.Context(), test.snapshot, cache)
			require.NoError(b, err)
			previous := first.Previous
			b.ResetTimer()
			for n := 0; n < b.N; n += count {
				asked := *test.snapshot
				if test.again {
					asked.Previous = previous
				}
				decided, err := decision.Decide(b.Context(), &asked, cache)
				require.NoError(b, err)
				previous = decided.Previous
				require.EqualValues(b, test.want, decided.Plans[0].Action())
				if test.want != plan.None {
					for i := range decided.Plans {
						_, err := json.Marshal(decided.Plans[i].Body())
						require.NoError(b, err)
					}
				}
			}
		})
	}
}

// Workloads of one shape share one body with its digest. Building both for each of them took 1,300 allocations.
func TestDecide_AllocatesLittleForNewWorkloads(t *testing.T) {
	const count = 100
	input, reducer := snapshot(t, logs().WithLogs("/var/log/app").Build()), workloadcache.New()
	for _, deployment := range manyOf(count) {
		input.Workloads = append(input.Workloads, reducer.Reduce(deployment))
	}
	cache := desired.NewCache()
	allocations := testing.AllocsPerRun(3, func() {
		decided, err := decision.Decide(t.Context(), input, cache)
		require.NoError(t, err)
		require.Equal(t, plan.Inject, decided.Plans[count-1].Change)
	})
	require.Less(t, allocations/count, 100.0, "allocations for each workload")
}

// BenchmarkAnotherNamespace is the first pass of a ClusterVectorSidecar over a namespace of two workloads, with
// a cache that has seen others; figures are per namespace.
func BenchmarkAnotherNamespace(b *testing.B) {
	cluster := &v1alpha1.ClusterVectorSidecar{}
	cluster.Name, cluster.UID = "logs", "1"
	cluster.Spec.VectorSidecarSpec = logs().WithLogs("/var/log/app").Build().Spec
	cache := desired.NewCache()
	first := snapshot(b, clusterwide.NewSidecar(cluster, "shop-0", true))
	pass := func(n int) {
		namespace := fmt.Sprintf("shop-%d", n)
		of := *first
		of.Sidecar, of.Workloads = clusterwide.NewSidecar(cluster, namespace, true), nil
		for _, deployment := range manyOf(2) {
			deployment.Namespace = namespace
			of.Workloads = append(of.Workloads, workloadcache.NewRecordWithView(settled(deployment)))
		}
		b.StartTimer()
		decided, err := decision.Decide(b.Context(), &of, cache)
		require.NoError(b, err)
		require.Len(b, decided.Plans, 2)
		require.Equal(b, plan.Inject, decided.Plans[1].Change)
		b.StopTimer()
	}
	pass(0)
	b.ReportAllocs()
	b.ResetTimer()
	for n := range b.N {
		pass(n + 1)
	}
}
