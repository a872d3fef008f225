// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
)

// The operator detects another IP family. Injected sidecars stay unchanged until their next change.
func TestDecide_AppliesIPFamilyWithNextChange(t *testing.T) {
	deployment := cart()
	s := snapshot(t, logs().Build(), deployment)
	before := decide(t, s)
	require.Equal(t, plan.Inject, before.Plans[0].Change)
	s = carryOut(t, s, before, deployment)
	s.Cluster = render.Cluster{IPFamily: render.IPv6}
	require.Equal(t, plan.None, decide(t, s).Plans[0].Change)

	s.Sidecar = logs().WithEnv("A", "b").Build()
	decided := decide(t, s)
	require.Equal(t, plan.Update, decided.Plans[0].Change)
	require.Contains(t, decided.Companions[0].Data["vector.yaml"], "address: '[::]:9598'")
}

// If a user's own configuration listens on IPv4 only and the pods use IPv6, the sidecar is written with a warning.
func TestDecide_ChecksProbeAddressAgainstIPFamily(t *testing.T) {
	for family, findings := range map[string]int{render.IPv4: 0, render.IPv6: 1} {
		t.Run(family, func(t *testing.T) {
			s := snapshot(t, logs().Sidecar(func(s *v1alpha1.SidecarSpec) { s.Health = &v1alpha1.HealthSpec{Probe: "Metrics"} }).WithInlineConfig(`
sources: {own: {type: internal_metrics}}
sinks: {out: {type: prometheus_exporter, inputs: [own], address: "0.0.0.0:9598"}}
`).Build(), cart())
			s.Cluster = render.Cluster{IPFamily: family}
			decided := decide(t, s)
			require.Equal(t, plan.Inject, decided.Plans[0].Change, decided.Plans[0].Message())
			require.Len(t, decided.Findings, findings)
		})
	}
}
