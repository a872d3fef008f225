// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/go-logr/logr"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

// service is the default of the environment variable OTEL_SERVICE_NAME.
const service = "vector-sidecar-operator"

// NewTracer returns the Tracer that OpenTelemetry's environment variables configure, and a function
// that sends the last spans and shuts it down. The Tracer is zero unless OTEL_EXPORTER_OTLP_ENDPOINT
// or OTEL_EXPORTER_OTLP_TRACES_ENDPOINT is set. The exporter, the sampler and the batcher read the
// other variables themselves. An unreachable collector is only logged.
func NewTracer(ctx context.Context, version string, log logr.Logger) (Tracer, func(context.Context) error, error) {
	none := func(context.Context) error { return nil }
	if !isEnabled() {
		return Tracer{}, none, nil
	}
	exporter, err := newExporter(ctx)
	if err != nil {
		return Tracer{}, none, err
	}
	described, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", service), attribute.String("service.version", version)),
		resource.WithFromEnv(), // OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES take precedence.
		resource.WithTelemetrySDK(),
	)
	if err != nil {
		return Tracer{}, none, errors.Join(fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err), exporter.Shutdown(ctx))
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) { log.Error(err, "sending spans") }))
	provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(described))
	return Tracer{provider.Tracer("kontroloop.ai/vector-sidecar-operator")}, provider.Shutdown, nil
}

// isEnabled reports whether OpenTelemetry's environment variables enable traces.
func isEnabled() bool {
	endpoint := os.Getenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT") + os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT")
	return endpoint != "" && os.Getenv("OTEL_TRACES_EXPORTER") != "none" && !strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true")
}

// newExporter returns an exporter over HTTP, or over gRPC if a variable selects it, as
// OpenTelemetry specifies.
func newExporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	variable := "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"
	protocol := os.Getenv(variable)
	if protocol == "" {
		variable = "OTEL_EXPORTER_OTLP_PROTOCOL"
		protocol = os.Getenv(variable)
	}
	var exporter sdktrace.SpanExporter
	var err error
	switch protocol {
	case "", "http/protobuf":
		exporter, err = otlptracehttp.New(ctx)
	case "grpc":
		exporter, err = otlptracegrpc.New(ctx)
	default:
		return nil, fmt.Errorf("%s is %q: it must be grpc or http/protobuf", variable, protocol)
	}
	if err != nil {
		return nil, fmt.Errorf("creating the trace exporter: %w", err)
	}
	return exporter, nil
}
