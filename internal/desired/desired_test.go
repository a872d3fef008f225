// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package desired

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// setOf returns a reader of ConfigMaps.
func setOf(configMaps []*corev1.ConfigMap) objects.ConfigMapSet {
	set := objects.ConfigMapSet{}
	for _, object := range configMaps {
		set[types.NamespacedName{Namespace: object.Namespace, Name: object.Name}] = object
	}
	return set
}

// of is what workloads should carry for a VectorSidecar in a namespace with some
// ConfigMaps.
func of(t *testing.T, sidecar *v1alpha1.VectorSidecar, cache *Cache, configMaps ...*corev1.ConfigMap) *Desired {
	t.Helper()
	return ofPlatform(t, builtIn(t), sidecar, cache, configMaps...)
}

// ofPlatform is the same for a platform.
func ofPlatform(t *testing.T, platform *Platform, sidecar *v1alpha1.VectorSidecar, cache *Cache, configMaps ...*corev1.ConfigMap) *Desired {
	t.Helper()
	inputs := &Inputs{
		Sidecar: sidecar, Platform: platform, Settings: Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"},
		ConfigMaps: setOf(configMaps),
	}
	reader := NewReader(t.Context(), inputs)
	t.Cleanup(reader.Release)
	made := New(inputs, reader, cache)
	require.NoError(t, reader.Err())
	require.Nil(t, made.Invalid)
	return made
}

// Two workloads differ only in the name of a volume. Their renderings share the companion ConfigMap, which needs most
// of the memory.
func TestRendered_SharesCompanionConfigMaps(t *testing.T) {
	cache := NewCache()
	made := of(t, logs().WithLogs("/var/log/app").Build(), cache)
	for n, deployment := range services(50) {
		pod := &deployment.Spec.Template.Spec
		pod.Volumes[0].Name = fmt.Sprintf("logs-%d", n)
		pod.Containers[0].VolumeMounts[0].Name = pod.Volumes[0].Name
		record := workloadcache.NewRecordWithView(settled(deployment))
		view := record.View()
		require.Nil(t, made.Variant(record).WorkloadFor(t.Context(), &view).Invalid)
	}
	seen := map[*corev1.ConfigMap]bool{}
	for _, of := range renderings(cache) {
		seen[&of.Companions[0]] = true
	}
	require.Len(t, renderings(cache), 50)
	require.Len(t, seen, 1)
}

// The cache does not keep the content of copied ConfigMaps, which may be large and change often.
func TestCache_DoesNotStoreCopiedConfigMaps(t *testing.T) {
	cache, view := NewCache(), settled(services(1)[0])
	for n := range 3 {
		object := objects.NewConfigMap("shipping", "shop", "vector.yaml", objects.VectorConfig("x")+"\n"+fmt.Sprintf("# %d\n", n))
		made := of(t, logs().WithConfigMap("shipping", "").Build(), cache, object)
		require.Nil(t, made.CommonVariant().WorkloadFor(t.Context(), &view).Invalid)
	}
	require.Len(t, renderings(cache), 3)
	for _, of := range renderings(cache) {
		require.Empty(t, of.Companions)
		require.NotNil(t, of.Copied)
	}
}

// Workloads are rendered separately, because a template may read the workload. If their configuration is the same, it
// is checked once.
func TestCheck_RunsOncePerConfiguration(t *testing.T) {
	r := of(t, logs().WithInlineConfig(objects.VectorConfig("x")).Build(), NewCache()).CommonVariant().renderer
	view := settled(services(1)[0])
	first := r.render(t.Context(), &view)
	require.Nil(t, first.Invalid)
	for range 10_000 {
		fresh := &Rendered{container: first.container, Companions: first.Companions}
		r.setReport(t.Context(), first.rendered, fresh)
		require.Same(t, first.Report, fresh.Report)
	}
}
