// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

func TestOverlay_EqualsOutputOfOperator(t *testing.T) {
	o, err := newOverlay(t.Context(), logs("shop"), nil, "v1.36.0")
	require.NoError(t, err)
	manifest, err := o.manifest("shop", "cart")
	require.NoError(t, err)
	var applied appsv1.Deployment
	require.NoError(t, json.Unmarshal(manifest, &applied))
	require.Equal(t, "cart", applied.Name)
	require.Equal(t, "true", applied.Annotations[meta.AnnotationInjected])
	require.Equal(t, "vector", applied.Spec.Template.Spec.InitContainers[0].Name)
	require.Len(t, o.companions, 1)

	template, annotations, err := o.template()
	require.NoError(t, err)
	require.Equal(t, applied.Spec.Template.Spec, template.Spec)
	require.Equal(t, applied.Annotations, annotations)
}

// The sidecar that the benchmark renders has another hash for another Vector configuration.
func TestOverlay_ChangesHashWithConfiguration(t *testing.T) {
	applied := map[string]string{}
	for _, message := range []string{"a", "b"} {
		configuration := objects.NewConfigMap("vector", "shop", "vector.yaml", objects.VectorConfig(message))
		o, err := newOverlay(t.Context(), referring("shop", "100%"), configuration, "v1.36.0")
		require.NoError(t, err)
		_, annotations, err := o.template()
		require.NoError(t, err)
		applied[message] = annotations[meta.AnnotationInjectedHash]
	}
	require.NotEqual(t, applied["a"], applied["b"])
}

func ratioOf(what string, ratio float64, scenario string) found {
	return found{finding{what: what, ratio: ratio}, scenario}
}

// A measured ratio may exceed its recorded range by a fifth. A ratio without a recorded range is an error.
func TestRanges_AllowRatioUpToOneFifthWorse(t *testing.T) {
	recorded := ranges{"fan-out": {1, 2}}
	require.NoError(t, recorded.worse([]found{ratioOf("fan-out", 2.39, "fan-outs"), ratioOf("no ratio", 0, "fan-outs")}))
	require.ErrorContains(t, recorded.worse([]found{ratioOf("fan-out", 2.41, "fan-outs")}), "became worse")
	require.ErrorContains(t, recorded.worse([]found{ratioOf("new", 1, "fan-outs")}), "make bench-record")
}

// If a ratio is worse, its measurement is repeated. The better result counts.
func TestRanges_RepeatMeasurementIfRatioIsWorse(t *testing.T) {
	recorded := ranges{"fan-out": {1, 2}, "wave": {1, 2}}
	first := []found{ratioOf("fan-out", 3, "fan-outs"), ratioOf("wave", 1, "flips")}
	require.Equal(t, []string{"fan-outs"}, recorded.suspects(first))
	require.NoError(t, recorded.worse(append(first, ratioOf("fan-out", 2, "fan-outs"))))
	require.ErrorContains(t, recorded.worse(append(first, ratioOf("fan-out", 2.5, "fan-outs"))), "became worse: 2.5")
}

// A recorded range grows if a measured ratio is outside of it, and never shrinks.
func TestWiden_NeverNarrowsRange(t *testing.T) {
	file := filepath.Join(t.TempDir(), "recorded.json")
	for _, ratio := range []float64{2, 1, 1.5} {
		recorded, err := readRanges(file, true)
		require.NoError(t, err)
		require.NoError(t, recorded.widen([]found{ratioOf("fan-out", ratio, "fan-outs"), ratioOf("no ratio", 0, "fan-outs")}, file))
	}
	recorded, err := readRanges(file, false)
	require.NoError(t, err)
	require.Equal(t, ranges{"fan-out": {1, 2}}, recorded)
	_, err = readRanges(file+".missing", false)
	require.ErrorIs(t, err, os.ErrNotExist)
}

// Slope, median and percentile return the known values of small samples.
func TestPercentile_MatchesKnownValues(t *testing.T) {
	require.InDelta(t, 1, slope([]float64{10, 100, 1000}, []float64{2, 20, 200}), 1e-9)
	require.InDelta(t, 2, slope([]float64{10, 100, 1000}, []float64{1, 100, 10000}), 1e-9)
	require.Equal(t, 2, median([]int{1, 2, 3}))
	hundred := make([]int, 100)
	for n := range hundred {
		hundred[n] = n + 1
	}
	require.Equal(t, 51, percentile(hundred, 50))
	require.Equal(t, 100, percentile(hundred, 99))
}

// The API requests of a measurement are the difference between the counts after it and before it.
func TestCalls_ReturnDifferenceOfCounts(t *testing.T) {
	before, after := calls{"GET deployments": 2, "APPLY deployments": 1}, calls{"GET deployments": 2, "APPLY deployments": 4}
	require.Equal(t, calls{"APPLY deployments": 3}, after.since(before))
	require.Equal(t, "3 APPLY deployments", after.since(before).String())
	require.Equal(t, "none", calls{}.String())
	require.Equal(t, "PATCH", label(`code="200",resource="deployments",verb="PATCH"`, "verb"))
	require.Empty(t, label(`subresource="status"`, "resource"))
}

// The CPU time and the memory of a process are read from the kernel.
func TestProcess_ReturnsUsedCPUAndMemory(t *testing.T) {
	for began := time.Now(); time.Since(began) < 50*time.Millisecond; {
		_ = began // Uses the processor, so that there is something to account for.
	}
	used, err := harness.CPU(os.Getpid())
	require.NoError(t, err)
	require.Positive(t, used)
	resident, err := harness.Memory(os.Getpid(), "VmRSS")
	require.NoError(t, err)
	require.Greater(t, resident, int64(1<<20))
	most, err := harness.Memory(os.Getpid(), "VmHWM")
	require.NoError(t, err)
	require.GreaterOrEqual(t, most, resident)
}
