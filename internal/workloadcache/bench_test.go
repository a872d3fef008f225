// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloadcache

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/fieldmanager"
)

// fleet is a Deployment without and one with a fieldmanager.Sidecar, of typical size.
func fleet(b testing.TB) map[string]*appsv1.Deployment {
	t, ok := b.(*testing.T)
	if !ok {
		t = &testing.T{}
	}
	c := fieldmanager.New(t)
	bare := c.Live()
	for n := range 12 {
		bare.Spec.Template.Spec.Containers[0].Env = append(bare.Spec.Template.Spec.Containers[0].Env,
			corev1.EnvVar{Name: fmt.Sprintf("APPLICATION_SETTING_%d", n), Value: "a value of some length"})
	}
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	return map[string]*appsv1.Deployment{"bare": bare, "injected": c.Live()}
}

// The cost of a status-only event after decoding: the new record is made and compared
// with the old one.
func BenchmarkStatusOnlyEvent(b *testing.B) {
	for name, deployment := range fleet(b) {
		b.Run(name, func(b *testing.B) {
			reducer := newReducer()
			before := reducer.reduce(deployment)
			reducer.findPrevious = func(string, string, string) *Record { return before }
			b.ReportAllocs()
			for b.Loop() {
				if !reducer.reduce(deployment).EquivalentTo(before) {
					b.Fatal("it looks like another")
				}
			}
		})
	}
}

// The part of a record that planning unpacks.
func BenchmarkView(b *testing.B) {
	for name, deployment := range fleet(b) {
		b.Run(name, func(b *testing.B) {
			record := newReducer().reduce(deployment)
			b.ReportAllocs()
			for b.Loop() {
				view := record.View()
				_ = view
			}
		})
	}
}

// The cache is mostly records: of workloads from one chart, and of workloads that have
// little in common.
func TestRecord_StaysWithinMemoryLimit(t *testing.T) {
	for name, deployment := range fleet(t) {
		for of, most := range map[string]float64{"one make": 512, "its own make": 1638} {
			const count = 2000
			reducer, records := newReducer(), make([]*Record, count)
			before := heap()
			for n := range records {
				one := deployment.DeepCopy()
				one.Name, one.UID = fmt.Sprintf("application-%d", n), types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012d", n))
				if of == "its own make" {
					one.Annotations["make"] = fmt.Sprint(n)
				}
				records[n] = reducer.reduce(one)
			}
			each := float64(heap()-before) / count
			t.Logf("%s, of %s: %.0f bytes", name, of, each)
			require.Less(t, each, most, "%s, of %s", name, of)
			runtime.KeepAlive(records)
		}
	}
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// The cost of a write of ours when it reaches the cache.
func BenchmarkRecordOfAnInjectedWorkload(b *testing.B) {
	deployment := fleet(b)["injected"]
	reducer := newReducer()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		deployment.Annotations["change"] = fmt.Sprint(n)
		reducer.reduce(deployment)
	}
}
