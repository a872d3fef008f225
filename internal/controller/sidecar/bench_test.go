// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// BenchmarkMatch finds the 1,000 workloads that a VectorSidecar selects in a namespace of 10,000.
// The figures are per selected workload.
func BenchmarkMatch(b *testing.B) {
	const all, matching = 10_000, 1_000
	manager := meta.Manager("logs")
	for name, selector := range map[string]metav1.LabelSelector{
		"a label":      {MatchLabels: map[string]string{"logs": "vector"}},
		"two labels":   {MatchLabels: map[string]string{"logs": "vector", "tier": "web"}},
		"no certain":   {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("tier", "Exists")}},
		"one of three": {MatchExpressions: []metav1.LabelSelectorRequirement{requirement("logs", "In", "vector", "a", "b")}},
	} {
		b.Run(name, func(b *testing.B) {
			workloads := workloadcache.New()
			for n := range all {
				if n%(all/matching) == 0 {
					workloads.Put(record(fmt.Sprintf("app-%d", n), "shop", map[string]string{"logs": "vector", "tier": "web"}, manager))
				} else {
					workloads.Put(record(fmt.Sprintf("app-%d", n), "shop", map[string]string{"logs": "none"}))
				}
			}
			sidecar := objects.NewVectorSidecar("logs", "shop").Build()
			sidecar.Spec.Selector = selector
			of := &cacheSource{snapshots: &snapshots{workloads: workloads}, known: state.New(time.Now).GetOrCreate(client.ObjectKeyFromObject(sidecar))}
			b.ReportAllocs()
			for n := 0; n < b.N; n += matching {
				found, err := of.Workloads(b.Context(), sidecar)
				require.NoError(b, err)
				require.Len(b, found, matching)
			}
		})
	}
}

func record(name, namespace string, labels map[string]string, managers ...string) *workloadcache.Record {
	deployment := objects.NewDeployment(name, namespace).Build()
	deployment.Labels = labels
	for _, manager := range managers {
		deployment.ManagedFields = append(deployment.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: metav1.NewFieldsV1("{}"),
		})
	}
	return workloadcache.NewRecord(deployment)
}
