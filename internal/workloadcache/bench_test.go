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
	bare.ResourceVersion, bare.Generation = "1", 1
	for n := range 12 {
		bare.Spec.Template.Spec.Containers[0].Env = append(bare.Spec.Template.Spec.Containers[0].Env,
			corev1.EnvVar{Name: fmt.Sprintf("APPLICATION_SETTING_%d", n), Value: "a value of some length"})
	}
	c.Apply(meta.Manager("logs"), fieldmanager.Sidecar)
	injected := c.Live()
	injected.ResourceVersion, injected.Generation = "2", 2
	return map[string]*appsv1.Deployment{"bare": bare, "injected": injected}
}

// The cost of a status-only event after decoding: the new record is made and compared
// with the old one.
func BenchmarkStatusOnlyEvent(b *testing.B) {
	for name, deployment := range fleet(b) {
		b.Run(name, func(b *testing.B) {
			cache := New()
			before := cache.Reduce(deployment)
			cache.Put(before)
			b.ReportAllocs()
			for b.Loop() {
				if !cache.Reduce(deployment).EquivalentTo(before) {
					b.Fatal("it looks like another")
				}
			}
		})
	}
}

// bytesPerWorkload is the promised maximum size of a workload in the cache.
const bytesPerWorkload = 3 << 10

// A cached workload needs no more memory than documented.
func TestCache_StaysWithinMemoryPerWorkload(t *testing.T) {
	for name, deployment := range fleet(t) {
		t.Run(name, func(t *testing.T) {
			const count = 2000
			cache := New()
			before := heap()
			for n := range count {
				cache.Put(cache.Reduce(decoded(t, deployment, fmt.Sprintf("application-%d", n))))
			}
			each := float64(heap()-before) / count
			t.Logf("%.0f bytes", each)
			require.Less(t, each, float64(bytesPerWorkload))
			runtime.KeepAlive(cache)
		})
	}
}

// decoded returns a Deployment with a name as an informer decodes it, without strings of another object.
func decoded(t *testing.T, deployment *appsv1.Deployment, name string) *appsv1.Deployment {
	t.Helper()
	named := deployment.DeepCopy()
	named.Name, named.UID = name, types.UID(fmt.Sprintf("00000000-0000-0000-0000-%012s", name))
	text, err := named.Marshal()
	require.NoError(t, err)
	result := &appsv1.Deployment{}
	require.NoError(t, result.Unmarshal(text))
	return result
}

func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// The cost of a write of ours when it reaches the cache.
func BenchmarkReduce(b *testing.B) {
	deployment := fleet(b)["injected"]
	cache := New()
	b.ReportAllocs()
	for n := 0; b.Loop(); n++ {
		deployment.Annotations["change"] = fmt.Sprint(n)
		cache.Reduce(deployment)
	}
}
