// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package collector is a trace collector for tests. It accepts OTLP on the loopback, over HTTP and gRPC, and stores
// the received spans.
package collector

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	collectortrace "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"
)

// Collector stores the spans that it receives.
type Collector struct {
	// HTTP and GRPC are its endpoints, in the form of OTEL_EXPORTER_OTLP_ENDPOINT.
	HTTP, GRPC string

	collectortrace.UnimplementedTraceServiceServer

	mu    sync.Mutex
	spans []Span
}

// Span is a span with its attributes and the attributes of its resource, as strings.
type Span struct {
	Name, TraceID, ID, Parent string
	// Error is the description of the status if that is an error.
	Error                string
	Attributes, Resource map[string]string
}

// Start runs a collector until the test ends.
func Start(t testing.TB) *Collector {
	t.Helper()
	c := &Collector{}
	web := httptest.NewServer(http.HandlerFunc(c.serve))
	t.Cleanup(web.Close)
	c.HTTP = web.URL
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	c.GRPC = "http://" + listener.Addr().String()
	server := grpc.NewServer()
	collectortrace.RegisterTraceServiceServer(server, c)
	go func() { _ = server.Serve(listener) }() // Ends with Stop.
	t.Cleanup(server.Stop)
	return c
}

// Spans returns the spans received so far.
func (c *Collector) Spans() []Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	return append([]Span(nil), c.spans...)
}

// Named returns the spans of a name received so far.
func (c *Collector) Named(name string) []Span {
	var found []Span
	for _, span := range c.Spans() {
		if span.Name == name {
			found = append(found, span)
		}
	}
	return found
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	request := &collectortrace.ExportTraceServiceRequest{}
	if err != nil || r.URL.Path != "/v1/traces" || proto.Unmarshal(body, request) != nil {
		http.Error(w, "not OTLP", http.StatusBadRequest)
		return
	}
	c.keep(request)
	w.Header().Set("Content-Type", "application/x-protobuf")
	w.WriteHeader(http.StatusOK)
}

// Export receives spans over gRPC.
func (c *Collector) Export(_ context.Context, request *collectortrace.ExportTraceServiceRequest) (*collectortrace.ExportTraceServiceResponse, error) {
	c.keep(request)
	return &collectortrace.ExportTraceServiceResponse{}, nil
}

func (c *Collector) keep(request *collectortrace.ExportTraceServiceRequest) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, group := range request.GetResourceSpans() {
		for _, scope := range group.GetScopeSpans() {
			for _, span := range scope.GetSpans() {
				c.spans = append(c.spans, Span{
					Name: span.GetName(), TraceID: string(span.GetTraceId()), ID: string(span.GetSpanId()), Parent: string(span.GetParentSpanId()),
					Error:      span.GetStatus().GetMessage(),
					Attributes: texts(span.GetAttributes()), Resource: texts(group.GetResource().GetAttributes()),
				})
			}
		}
	}
}

func texts(attributes []*common.KeyValue) map[string]string {
	found := map[string]string{}
	for _, attribute := range attributes {
		found[attribute.GetKey()] = attribute.GetValue().GetStringValue()
	}
	return found
}
