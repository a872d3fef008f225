// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package instrument

import (
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

var (
	logsOfShop  = types.NamespacedName{Namespace: "shop", Name: "logs"}
	auditOfShop = types.NamespacedName{Namespace: "shop", Name: "audit"}
)

// The liveness check fails if a reconcile makes no progress for too long.
func TestLiveness_DetectsStuckReconcile(t *testing.T) {
	p := newLiveness(time.Minute)
	start := time.Unix(1000, 0)
	require.NoError(t, p.check(start), "nothing goes on")

	ctx := p.startReconcile(t.Context(), logsOfShop, start)
	p.startReconcile(t.Context(), auditOfShop, start.Add(time.Hour))
	require.NoError(t, p.check(start.Add(time.Minute)))
	require.ErrorContains(t, p.check(start.Add(2*time.Minute)), "shop/logs")
	p.recordProgress(currentRun(ctx), start.Add(90*time.Second))
	require.NoError(t, p.check(start.Add(2*time.Minute)), "it is slow, and gets on")
	p.endReconcile(currentRun(ctx))
	require.NoError(t, p.check(start.Add(time.Hour)))
}

// A panic in a reconcile is counted and reported. It then continues, and the manager handles it.
func TestEndReconcile_ReportsAndRepeatsPanic(t *testing.T) {
	counted := telemetry.NewMetrics("1", time.Now)
	i := New(Instruments{Metrics: counted, Reports: telemetry.NewNoopReporter()}, 0, time.Now)

	require.PanicsWithValue(t, "no", func() {
		_, reconcile := i.StartReconcile(t.Context(), logsOfShop)
		defer func() { i.EndReconcile(&reconcile, telemetry.ResultUnchanged, nil, recover()) }()
		panic("no")
	})

	require.Empty(t, i.liveness.lastProgress)
	registry := prometheus.NewRegistry()
	registry.MustRegister(counted)
	families, err := registry.Gather()
	require.NoError(t, err)
	failed := 0.0
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			if family.GetName() == "vectorsidecar_reconciles_total" && metric.GetLabel()[0].GetValue() == telemetry.ResultFailed {
				failed = metric.GetCounter().GetValue()
			}
		}
	}
	require.InDelta(t, 1, failed, 0)
}

// Without a tracer, a step allocates no memory.
func TestInstruments_AllocateNothingWithoutTracer(t *testing.T) {
	i := New(Instruments{Metrics: telemetry.NewMetrics("1", time.Now), Reports: telemetry.NewNoopReporter()}, 0, time.Now)
	ctx := i.liveness.startReconcile(log.IntoContext(t.Context(), logr.Discard()), logsOfShop, time.Now())

	require.Zero(t, testing.AllocsPerRun(100, func() {
		_, s := i.StartStep(ctx, "apply")
		s.End(nil)
	}))
}
