// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/test/collector"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// One trace has the spans of a reconcile, from its start to the write.
func TestTracer_RecordsReconcileToApply(t *testing.T) {
	c := collector.Start(t)
	p := start(t, harness.Settings{Environment: []string{
		"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.GRPC, "OTEL_EXPORTER_OTLP_PROTOCOL=grpc", "OTEL_BSP_SCHEDULE_DELAY=100",
		"OTEL_SERVICE_NAME=sidecars", "OTEL_RESOURCE_ATTRIBUTES=cluster=north",
	}})
	namespace := world.Namespace(t)
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	harness.Eventually(t, "the span of the write", func() bool { return len(c.Named("apply")) > 0 })
	written := c.Named("apply")[0]
	harness.Eventually(t, "the span of the reconcile", func() bool { return parentOf(c, written).Name == "reconcile" })

	pass := parentOf(c, written)
	require.Equal(t, "cart", written.Attributes["k8s.workload.name"])
	require.Equal(t, "Deployment", written.Attributes["k8s.workload.kind"])
	require.Equal(t, "Inject", written.Attributes["vectorsidecar.action"])
	require.Equal(t, cart.Annotations[meta.AnnotationInjectedHash], written.Attributes["vectorsidecar.hash"])
	require.Equal(t, "ok", written.Attributes["vectorsidecar.result"])
	require.Equal(t, namespace, pass.Attributes["k8s.namespace.name"])
	require.Equal(t, "logs", pass.Attributes["vectorsidecar.name"])
	require.Equal(t, "development", pass.Attributes["vectorsidecar.environment"])
	require.Equal(t, "default", pass.Attributes["vectorsidecar.template_set"])
	require.Equal(t, "changed", pass.Attributes["vectorsidecar.result"])
	require.Equal(t, "sidecars", pass.Resource["service.name"])
	require.Equal(t, "north", pass.Resource["cluster"])
	steps := map[string]string{}
	for _, span := range c.Spans() {
		if span.TraceID == pass.TraceID {
			steps[span.Name] = parentOf(c, span).Name
		}
	}
	require.Equal(t, map[string]string{
		"reconcile": "", "observe": "reconcile", "plan": "reconcile", "render": "plan", "check": "plan", "apply": "reconcile", "status": "reconcile",
	}, steps)

	lines := p.Said(t, "wrote workload")
	require.Len(t, lines, 1)
	require.Equal(t, pass.Attributes["vectorsidecar.reconcile_id"], lines[0]["reconcileID"])
	require.Len(t, lines[0]["traceID"], 32)
}

// parentOf returns the parent of a span, or an empty span if it was not received yet.
func parentOf(c *collector.Collector, span collector.Span) collector.Span {
	for _, other := range c.Spans() {
		if span.Parent != "" && other.ID == span.Parent {
			return other
		}
	}
	return collector.Span{}
}

// A step of a reconcile fails. Its span contains the error.
func TestTracer_RecordsErrorsInSpans(t *testing.T) {
	c := collector.Start(t)
	start(t, harness.Settings{Environment: []string{"OTEL_EXPORTER_OTLP_ENDPOINT=" + c.HTTP, "OTEL_BSP_SCHEDULE_DELAY=100"}})
	namespace := world.Namespace(t)
	labeled(t, "cart", namespace)
	world.Create(t, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithLogs("/var/log/nowhere").Build())

	harness.Eventually(t, "the span of the rendering that fails", func() bool {
		for _, span := range c.Named("render") {
			if strings.Contains(span.Error, "/var/log/nowhere") {
				return true
			}
		}
		return false
	})
}

// A user changes the VectorSidecar between the operator's read and its write. The operator requeues and logs no error.
func TestReconcile_LogsNoErrorOnConflict(t *testing.T) {
	namespace := world.Namespace(t)
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build()
	var once sync.Once
	overtake := func(next roundTripper) roundTripper {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodPatch && strings.HasSuffix(request.URL.Path, "/vectorsidecars/logs") {
				once.Do(func() {
					harness.Change(t, world, vs.DeepCopy(), func(vs *v1alpha1.VectorSidecar) { vs.Annotations = map[string]string{"example.com/by": "somebody"} })
				})
			}
			return next(request)
		}
	}
	p := harness.StartProcess(t, program, kubeconfigThrough(t, overtake), harness.Settings{
		Arguments: []string{"--namespace=" + own, "--watch-namespaces=" + namespace, "--log-level=DEBUG"},
	})
	cart := labeled(t, "cart", namespace)
	world.Create(t, vs)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	world.Get(t, vs)

	require.Contains(t, vs.Finalizers, meta.Finalizer)
	require.Contains(t, vs.Annotations, "example.com/by")
	require.NotEmpty(t, p.Said(t, "requeueing after conflict"))
	noErrors(t, p)
}

func TestProcess_LogsJSONWithUniformKeys(t *testing.T) {
	config, lease := filepath.Join(t.TempDir(), "config.yaml"), leaseName(t)
	level := func(name string) {
		require.NoError(t, os.WriteFile(config, []byte("log-level: "+name+"\nleader-elect: true\nleader-election-id: "+lease+"\n"), 0o600))
	}
	level("INFO")
	p := start(t, harness.Settings{Arguments: []string{"--config=" + config}})
	namespace := world.Namespace(t)
	cart := labeled(t, "cart", namespace)
	vs := sidecar(t, namespace)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	harness.Eventually(t, "the line about it", func() bool { return len(p.Said(t, "wrote workload")) == 1 })

	line := p.Said(t, "wrote workload")[0]
	require.Equal(t, "vectorsidecar", line["controller"])
	require.Equal(t, namespace, line["namespace"])
	require.Equal(t, "logs", line["name"])
	require.Equal(t, "Deployment "+namespace+"/cart", line["workload"])
	require.Equal(t, "development", line["environment"])
	require.Equal(t, cart.Annotations[meta.AnnotationInjectedHash], line["hash"])
	require.Equal(t, "VectorSidecar logs selects the workload", line["changeCause"])
	require.NotEmpty(t, line["reconcileID"])
	require.NotContains(t, line, "traceID", "nothing is traced")
	require.Equal(t, "INFO", line["level"])
	for _, line := range p.Lines(t) {
		require.Contains(t, []any{"INFO", "WARN", "ERROR"}, line["level"], "no DEBUG yet")
	}

	level("WARN")
	harness.Eventually(t, "the new level", func() bool { return len(p.Said(t, "configuration reloaded")) == 1 })
	late := labeled(t, "late", namespace)
	harness.Until(t, world, late, "the sidecar", isInjected)
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Environment = "nowhere" })
	harness.Eventually(t, "a warning", func() bool { return len(p.Said(t, "waiting for user action")) > 0 })
	warned := p.Said(t, "waiting for user action")[0]
	require.Equal(t, "WARN", warned["level"])
	require.Equal(t, "UnknownEnvironment", warned["reason"])
	require.Len(t, p.Said(t, "wrote workload"), 1, "what is usual is not told at WARN")
}

func TestReporter_SendsTerminalErrorsWithoutNames(t *testing.T) {
	var mu sync.Mutex
	var bodies []string
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		bodies = append(bodies, string(body))
	}))
	defer server.Close()
	start(t, harness.Settings{Environment: []string{"SENTRY_DSN=" + strings.Replace(server.URL, "http://", "http://key@", 1) + "/1"}})
	namespace := world.Namespace(t)
	labeled(t, "cart", namespace)
	world.Create(t, objects.NewVectorSidecar("hunter2", namespace).Selecting("logs", "vector").InEnvironment("nowhere").Build())

	all := func() string {
		mu.Lock()
		defer mu.Unlock()
		return strings.Join(bodies, "\n")
	}
	harness.Eventually(t, "the report", func() bool { return strings.Contains(all(), "terminal error: UnknownEnvironment") })
	for _, name := range []string{namespace, "cart", "hunter2", "nowhere"} {
		require.NotContains(t, all(), name)
	}
}
