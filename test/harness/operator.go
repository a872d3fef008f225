// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package harness

import (
	"cmp"
	"context"
	"io/fs"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
)

// Operator is a running operator.
type Operator struct {
	// Requests are the operator's requests so far.
	Requests *Requests

	cancel  context.CancelFunc
	stopped chan error
}

// StartOperator runs the operator in the world. Stop or the end of the test stops it.
func (w *World) StartOperator(t testing.TB, options operator.Options) *Operator {
	t.Helper()
	return w.StartObserved(t, options, operator.Process{Version: w.Version})
}

// StartObserved runs the operator with settings of its process that are not options.
func (w *World) StartObserved(t testing.TB, options operator.Options, process operator.Process) *Operator {
	t.Helper()
	o := w.run(options, process)
	t.Cleanup(func() { require.NoError(t, o.Stop()) })
	return o
}

// RunOperator runs the operator in the world until Stop.
func (w *World) RunOperator(options operator.Options) *Operator {
	return w.run(options, operator.Process{Version: w.Version})
}

// noQuiet publishes handwritten ConfigMaps at once, because tests change one at a time.
const noQuiet = -1

func (w *World) run(options operator.Options, process operator.Process) *Operator {
	process.Quiet = cmp.Or(process.Quiet, noQuiet)
	options.Environment = cmp.Or(options.Environment, "development")
	options.Concurrency = cmp.Or(options.Concurrency, operator.DefaultConcurrency)
	options.MetricsBindAddress = cmp.Or(options.MetricsBindAddress, "0")
	options.HealthProbeBindAddress = cmp.Or(options.HealthProbeBindAddress, "0")
	o := &Operator{Requests: &Requests{}, stopped: make(chan error, 1)}
	config := rest.CopyConfig(cmp.Or(w.Operator, w.Config))
	config.Wrap(o.Requests.count)
	ctx, cancel := context.WithCancel(context.Background())
	o.cancel = cancel
	var chart fs.FS = vectorsidecar.FS
	if w.Chart != nil {
		chart = w.Chart
	}
	go func() { o.stopped <- operator.Run(ctx, config, chart, options, process) }()
	return o
}

// RequestStop stops the operator as a signal does, and does not wait for its end.
func (o *Operator) RequestStop() { o.cancel() }

// Stop ends the operator and returns what it ended with.
func (o *Operator) Stop() error {
	o.RequestStop()
	err := <-o.stopped
	o.stopped <- err // For whoever asks again.
	return err
}

// Request is one request to the API server.
type Request struct {
	Method, Path string
	// DryRun is true for a dry run.
	DryRun bool
	// At is the time when the request was sent.
	At time.Time
}

// Requests records all requests except watches and those of Leases and events.
type Requests struct {
	mu  sync.Mutex
	all []Request
}

type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip calls the function.
func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func (r *Requests) count(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		path := request.URL.Path
		isWatch := request.URL.Query().Get("watch") != ""
		if !isWatch && !strings.Contains(path, "/leases") && !strings.Contains(path, "/events") {
			r.mu.Lock()
			r.all = append(r.all, Request{request.Method, path, request.URL.Query().Has("dryRun"), time.Now()})
			r.mu.Unlock()
		}
		return next.RoundTrip(request)
	})
}

// Writes returns the writing requests below a path, such as "/namespaces/shop/deployments"; empty means all.
func (r *Requests) Writes(below string) []Request { return r.filter(below, true) }

// Reads returns the gets and lists below a path.
func (r *Requests) Reads(below string) []Request { return r.filter(below, false) }

func (r *Requests) filter(below string, writes bool) []Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []Request
	for _, request := range r.all {
		// A review of permissions is a POST that does not store an object.
		isReview := strings.Contains(request.Path, "/apis/authorization.k8s.io/")
		if (request.Method != http.MethodGet) == writes && !isReview && strings.Contains(request.Path, below) {
			found = append(found, request)
		}
	}
	return found
}
