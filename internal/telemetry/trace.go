// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/trace"
)

// Tracer starts spans. The zero Tracer is a no-op.
type Tracer struct{ tracer trace.Tracer }

// Attributes of spans, in addition to OpenTelemetry's own for Kubernetes.
const (
	AttributeNamespace   = "k8s.namespace.name"
	AttributeSidecar     = "vectorsidecar.name"
	AttributeEnvironment = "vectorsidecar.environment"
	AttributeHash        = "vectorsidecar.hash"
	AttributeAction      = "vectorsidecar.action"
	AttributeWorkload    = "k8s.workload.name"
	AttributeKind        = "k8s.workload.kind"
	AttributeMatched     = "vectorsidecar.matched"
	AttributeReconcileID = "vectorsidecar.reconcile_id"
	AttributeTemplateSet = "vectorsidecar.template_set"
	// AttributeResult is the label result of the metric that counts the same reconciles or writes.
	AttributeResult = "vectorsidecar.result"
)

// Start starts a span with a name, as a child of the span in the context. The caller must end the span.
func (t Tracer) Start(ctx context.Context, name string) (context.Context, Span) {
	if t.tracer == nil {
		return ctx, Span{}
	}
	ctx, span := t.tracer.Start(ctx, name)
	return ctx, Span{span}
}

// Span is a unit of work. The zero Span is a no-op.
type Span struct{ span trace.Span }

// Set adds an attribute with a text as its value.
func (s Span) Set(key, value string) {
	if s.span != nil {
		s.span.SetAttributes(attribute.String(key, value))
	}
}

// SetCount adds an attribute with a number as its value.
func (s Span) SetCount(key string, value int) {
	if s.span != nil {
		s.span.SetAttributes(attribute.Int(key, value))
	}
}

// End ends the span, with an error if there is one.
func (s Span) End(err error) {
	if s.span == nil {
		return
	}
	if err != nil {
		s.span.RecordError(err)
		s.span.SetStatus(codes.Error, err.Error())
	}
	s.span.End()
}

// TraceID returns the ID of the trace that the span belongs to, or "" if the trace is not sampled.
func (s Span) TraceID() string {
	if s.span == nil || !s.span.SpanContext().IsSampled() {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}
