// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Environment variables cannot be injected into the application. The sidecar is still injected, with a warning that
// does not depend on a workload.
func TestDecide_WarnsOfMissingApplicationEnv(t *testing.T) {
	sidecar := objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector").Sidecar(func(s *v1alpha1.SidecarSpec) {
		s.OTLP = &v1alpha1.OTLPSpec{Enabled: ptr.To(true)}
		s.ApplicationEnv = &v1alpha1.ApplicationEnvSpec{OTLP: ptr.To("http/protobuf")}
	})
	s := snapshot(t, sidecar.Build(), cart())
	decided := decide(t, s)
	require.Contains(t, decided.Plans[0].Message(), "variables not allowed: OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_RESOURCE_ATTRIBUTES (sidecar.applicationEnv)")
	require.Equal(t, meta.ReasonPolicyViolation, decided.Plans[0].Reason())

	allowed, err := policy.Parse("policy", []byte("applicationEnv: [OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_EXPORTER_OTLP_PROTOCOL, OTEL_RESOURCE_ATTRIBUTES]"))
	require.NoError(t, err)
	s.Platform.Policy, s.NeedsOverlays = allowed, true
	decided = decide(t, s)
	require.Empty(t, decided.Plans[0].Warning)
	require.Len(t, decided.Overlays, 1, decided.OverlayBlocker)
	tells := decided.Overlays[0].Rendered.Overlay.EnvInjections
	require.Equal(t, "http://127.0.0.1:4318", tells[0].Value)
	require.Equal(t, "http/protobuf", tells[1].Value)

	memory := newMemory()
	for _, why := range []string{"", "it is off", "it is not served", ""} {
		s.AdmissionBlocker = why
		warning := ""
		if why != "" {
			warning = "environment variables are not injected into the application (sidecar.applicationEnv): " + why
		}
		require.Equal(t, warning, memory.decide(t, s).Plans[0].Warning, "the API server comes to inject, or does so no more")
	}

	s.Sidecar = sidecar.Sidecar(func(s *v1alpha1.SidecarSpec) { s.OTLP = nil }).Build()
	require.Contains(t, decide(t, s).Plans[0].Warning, "sidecar.applicationEnv.otlp has no effect, because sidecar.otlp is not enabled or the configuration is not rendered")
}
