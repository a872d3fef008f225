// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// roundTripper makes a request.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes a request.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

func wrapped(wrap func(roundTripper) roundTripper) func(http.RoundTripper) http.RoundTripper {
	return func(next http.RoundTripper) http.RoundTripper { return wrap(next.RoundTrip) }
}

// gate holds the writes to Deployments until it is opened, and reports each of them. It ignores the request's
// context, as a hanging program does.
type gate struct {
	reached chan struct{}
	open    chan struct{}
}

func newGate() *gate { return &gate{reached: make(chan struct{}, 100), open: make(chan struct{})} }

func (g *gate) hold(next roundTripper) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		if request.Method == http.MethodPatch && strings.Contains(request.URL.Path, "/deployments/") {
			g.reached <- struct{}{}
			<-g.open
		}
		return next(request)
	}
}

// slowAnswer forwards the first write to a path, closes written, and then delays the answer. If the request is
// canceled first, the client receives the error of its context.
type slowAnswer struct {
	path    string
	after   time.Duration
	once    sync.Once
	written chan struct{}
}

func (s *slowAnswer) hold(next roundTripper) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		response, err := next(request)
		if request.Method == http.MethodGet || !strings.Contains(request.URL.Path, s.path) {
			return response, err
		}
		s.once.Do(func() {
			close(s.written)
			select {
			case <-time.After(s.after):
			case <-request.Context().Done():
				_ = response.Body.Close()
				response, err = nil, request.Context().Err()
			}
		})
		return response, err
	}
}

// kubeconfigThrough returns the kubeconfig of an administrator whose requests use the given transport.
func kubeconfigThrough(t *testing.T, wrap func(next roundTripper) roundTripper) string {
	t.Helper()
	transport, err := rest.TransportFor(plane.Config())
	require.NoError(t, err)
	target, err := url.Parse(plane.Config().Host)
	require.NoError(t, err)
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(target) }, Transport: wrap(transport.RoundTrip), FlushInterval: -1,
	}
	server := httptest.NewServer(proxy)
	t.Cleanup(func() {
		server.CloseClientConnections() // The program may still watch.
		server.Close()
	})
	config, path := clientcmdapi.NewConfig(), filepath.Join(t.TempDir(), "kubeconfig")
	config.Clusters["through"], config.CurrentContext = &clientcmdapi.Cluster{Server: server.URL}, "through"
	config.Contexts["through"] = &clientcmdapi.Context{Cluster: "through"}
	require.NoError(t, clientcmd.WriteToFile(*config, path))
	return path
}
