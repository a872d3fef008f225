// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/test/collector"
)

// emptyEnvironment unsets variables that the test machine may have set.
func emptyEnvironment(t *testing.T) {
	t.Helper()
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); strings.HasPrefix(name, "OTEL_") {
			t.Setenv(name, "")
			require.NoError(t, os.Unsetenv(name))
		}
	}
}

func TestNewTracer_SendsSpansToConfiguredCollector(t *testing.T) {
	c := collector.Start(t)
	for name, variables := range map[string]map[string]string{
		"over HTTP, which is the default": {"OTEL_EXPORTER_OTLP_ENDPOINT": c.HTTP},
		"over HTTP, when asked for it":    {"OTEL_EXPORTER_OTLP_ENDPOINT": c.HTTP, "OTEL_EXPORTER_OTLP_PROTOCOL": "http/protobuf"},
		"over gRPC":                       {"OTEL_EXPORTER_OTLP_ENDPOINT": c.GRPC, "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
		"over gRPC, for traces only":      {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.GRPC, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": "grpc"},
	} {
		t.Run(name, func(t *testing.T) {
			emptyEnvironment(t)
			t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "cluster=north")
			for variable, value := range variables {
				t.Setenv(variable, value)
			}
			before := len(c.Spans())
			tracer, stop, err := NewTracer(t.Context(), "1.2.3", logr.Discard())
			require.NoError(t, err)

			ctx, outer := tracer.Start(t.Context(), "reconcile")
			outer.Set(AttributeNamespace, "shop")
			_, inner := tracer.Start(ctx, "apply")
			inner.End(errors.New("no"))
			outer.End(nil)
			require.Len(t, outer.TraceID(), 32)
			require.NoError(t, stop(t.Context()))

			spans := c.Spans()[before:]
			require.Len(t, spans, 2)
			require.Equal(t, "apply", spans[0].Name)
			require.Equal(t, "no", spans[0].Error)
			require.Equal(t, spans[1].ID, spans[0].Parent)
			require.Equal(t, spans[1].TraceID, spans[0].TraceID)
			require.Equal(t, "shop", spans[1].Attributes["k8s.namespace.name"])
			require.Empty(t, spans[1].Error)
			require.Equal(t, "vector-sidecar-operator", spans[1].Resource["service.name"])
			require.Equal(t, "1.2.3", spans[1].Resource["service.version"])
			require.Equal(t, "north", spans[1].Resource["cluster"])
		})
	}
}

func TestNewTracer_ReadsServiceNameFromEnvironment(t *testing.T) {
	emptyEnvironment(t)
	c := collector.Start(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.HTTP)
	t.Setenv("OTEL_SERVICE_NAME", "sidecars-of-north")
	tracer, stop, err := NewTracer(t.Context(), "1.2.3", logr.Discard())
	require.NoError(t, err)

	_, span := tracer.Start(t.Context(), "reconcile")
	span.End(nil)
	require.NoError(t, stop(t.Context()))

	require.Equal(t, "sidecars-of-north", c.Spans()[0].Resource["service.name"])
}

func TestNewTracer_ReturnsZeroByDefault(t *testing.T) {
	for name, variables := range map[string]map[string]string{
		"nothing is set":          {},
		"another thing is set":    {"OTEL_SERVICE_NAME": "x"},
		"the SDK is switched off": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_SDK_DISABLED": "true"},
		"traces are switched off": {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_TRACES_EXPORTER": "none"},
	} {
		t.Run(name, func(t *testing.T) {
			emptyEnvironment(t)
			for variable, value := range variables {
				t.Setenv(variable, value)
			}
			tracer, stop, err := NewTracer(t.Context(), "1.2.3", logr.Discard())
			require.NoError(t, err)
			require.Zero(t, tracer)
			require.NoError(t, stop(t.Context()))
		})
	}
}

func TestNewTracer_RejectsUnknownProtocol(t *testing.T) {
	emptyEnvironment(t)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1")
	t.Setenv("OTEL_EXPORTER_OTLP_PROTOCOL", "carrier/pigeon")

	_, _, err := NewTracer(t.Context(), "1.2.3", logr.Discard())

	require.ErrorContains(t, err, "OTEL_EXPORTER_OTLP_PROTOCOL")
	require.ErrorContains(t, err, `"carrier/pigeon"`)
}

func TestTracer_AllocatesNothingWhenDisabled(t *testing.T) {
	ctx := t.Context()
	require.Zero(t, testing.AllocsPerRun(100, func() { traced(ctx, Tracer{}) }))
}

func BenchmarkOff(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		traced(b.Context(), Tracer{})
	}
}

// traced is a pass's worth of spans.
func traced(ctx context.Context, tracer Tracer) {
	ctx, outer := tracer.Start(ctx, "reconcile")
	outer.Set(AttributeNamespace, "shop")
	outer.SetCount(AttributeMatched, 3)
	for range 5 {
		_, inner := tracer.Start(ctx, "apply")
		inner.Set(AttributeHash, "abc")
		inner.End(nil)
	}
	_ = outer.TraceID()
	outer.End(nil)
}
