// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package wire

import (
	"bufio"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const deployment = "/apis/apps/v1/namespaces/shop/deployments/cart"

func request(t *testing.T, method, path, contentType string) *http.Request {
	t.Helper()
	made, err := http.NewRequestWithContext(t.Context(), method, "http://server.invalid"+path, strings.NewReader("{}"))
	require.NoError(t, err)
	made.Header.Set("Content-Type", contentType)
	return made
}

// Each case is a request, and its kind of write, by which a fault selects it.
func TestKindOf_ClassifiesEveryWrite(t *testing.T) {
	const api = "/apis/observability.kontroloop.ai/v1alpha1/namespaces/shop/vectorsidecars/logs"
	for name, test := range map[string]struct{ method, path, contentType, kind string }{
		"an apply":             {"PATCH", deployment, "application/apply-patch+yaml", "apply deployments"},
		"an apply by force":    {"PATCH", deployment + "?force=true", "application/apply-patch+yaml", "apply deployments by force"},
		"a dry run":            {"PATCH", deployment + "?dryRun=All", "application/apply-patch+yaml", "apply deployments, dry run"},
		"a patch":              {"PATCH", deployment, "application/strategic-merge-patch+json", "strategic merge patch deployments"},
		"a creation":           {"POST", "/api/v1/namespaces/shop/configmaps", "application/vnd.kubernetes.protobuf", "create configmaps"},
		"a replacement":        {"PUT", "/api/v1/namespaces/shop/configmaps/a", "application/vnd.kubernetes.protobuf", "update configmaps"},
		"a deletion":           {"DELETE", "/api/v1/namespaces/shop/configmaps/a", "", "delete configmaps"},
		"of a status":          {"PATCH", api + "/status", "application/merge-patch+json", "merge patch vectorsidecars/status"},
		"of a finalizer":       {"PATCH", api, "application/merge-patch+json", "merge patch vectorsidecars"},
		"a read":               {"GET", deployment, "", ""},
		"a lease":              {"PUT", "/apis/coordination.k8s.io/v1/namespaces/shop/leases/a", "", ""},
		"an event":             {"POST", "/apis/events.k8s.io/v1/namespaces/shop/events", "", ""},
		"a question":           {"POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", "", ""},
		"of a namespace alone": {"PATCH", "/api/v1/namespaces/shop", "application/merge-patch+json", ""},
	} {
		t.Run(name, func(t *testing.T) {
			kind, counts := KindOf(request(t, test.method, test.path, test.contentType))
			require.Equal(t, test.kind, kind)
			require.Equal(t, test.kind != "", counts)
		})
	}
}

// server counts its requests.
func server(t *testing.T) (got *atomic.Int32, next http.RoundTripper) {
	t.Helper()
	got = &atomic.Int32{}
	return got, roundTripper(func(r *http.Request) (*http.Response, error) {
		got.Add(1)
		return &http.Response{StatusCode: http.StatusOK, Body: http.NoBody, Request: r}, r.Body.Close()
	})
}

// An injected fault affects only the write that it names.
func TestFault_AffectsOnlyItsWrite(t *testing.T) {
	for name, test := range map[string]struct {
		effect   Effect
		got      int32 // by the server, of three writes
		sees     error
		survives bool
	}{
		"crash before": {CrashBefore, 1, errDead, false},
		"crash after":  {CrashAfter, 2, errDead, false},
		"cut request":  {CutRequest, 2, syscall.ECONNRESET, true},
		"lost answer":  {LoseAnswer, 3, syscall.ECONNRESET, true},
	} {
		t.Run(name, func(t *testing.T) {
			got, next := server(t)
			w := New(&Fault{At: Write{"apply deployments", 2}, Effect: test.effect})
			life := w.Begin()
			through := life.Through(next)
			var failures []error
			for range 3 {
				response, err := through.RoundTrip(request(t, "PATCH", deployment, "application/apply-patch+yaml"))
				if err == nil {
					require.NoError(t, response.Body.Close())
				}
				failures = append(failures, err)
			}

			require.NoError(t, failures[0])
			require.ErrorIs(t, failures[1], test.sees)
			require.Equal(t, test.survives, failures[2] == nil, "%v", failures[2])
			require.Equal(t, test.got, got.Load())
			require.NotPanics(t, func() { <-w.Fired() })
			if !test.survives {
				<-life.Crashed()
				response, err := w.Begin().Through(next).RoundTrip(request(t, "PATCH", deployment, "application/apply-patch+yaml"))
				require.NoError(t, err, "the next life")
				require.NoError(t, response.Body.Close())
			}
		})
	}
}

// An injected response with a status code is the same error for client-go as one of the API server.
func TestAnswer_LooksLikeErrorOfAPIServer(t *testing.T) {
	for status, is := range map[int]func(error) bool{
		403: apierrors.IsForbidden, 409: apierrors.IsConflict, 422: apierrors.IsInvalid, 429: apierrors.IsTooManyRequests,
		500: apierrors.IsInternalError, 503: apierrors.IsServiceUnavailable, 504: apierrors.IsTimeout, 410: apierrors.IsResourceExpired,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			got, next := server(t)
			w := New(&Fault{At: Write{"apply deployments", 1}, Effect: Answer(status)})
			client := restClient(t, w.Begin(), next)

			err := client.Patch("application/apply-patch+yaml").AbsPath(deployment).MaxRetries(0).Body([]byte("{}")).Do(t.Context()).Error()

			require.True(t, is(err), "%v", err)
			require.Zero(t, got.Load())
		})
	}
}

func restClient(t *testing.T, life *Life, next http.RoundTripper) *rest.RESTClient {
	t.Helper()
	client, err := rest.UnversionedRESTClientForConfigAndClient(
		&rest.Config{Host: "http://server.invalid", ContentConfig: rest.ContentConfig{NegotiatedSerializer: scheme.Codecs.WithoutConversion()}},
		&http.Client{Transport: life.Through(next)})
	require.NoError(t, err)
	return client
}

// A hook for a write runs before the request is sent.
func TestBefore_RunsHookBeforeWrite(t *testing.T) {
	got, next := server(t)
	w := New(nil)
	w.Before(Write{"apply deployments", 1}, func() { require.Zero(t, got.Load()) })

	response, err := w.Begin().Through(next).RoundTrip(request(t, "PATCH", deployment, "application/apply-patch+yaml"))

	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.EqualValues(t, 1, got.Load())
	require.Equal(t, map[string]int{"apply deployments": 1}, w.Counts())
}

// watched starts a server whose watches send the strings of a channel, and a proxy to it.
func watched(t *testing.T, w *Wire, says <-chan string) (kubeconfig string, queries chan url.Values) {
	t.Helper()
	queries = make(chan url.Values, 10)
	upstream := httptest.NewServer(http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		queries <- r.URL.Query()
		answer.(http.Flusher).Flush()
		for r.URL.Query().Get("watch") != "" {
			select {
			case line := <-says:
				_, _ = fmt.Fprintln(answer, line)
				answer.(http.Flusher).Flush()
			case <-r.Context().Done():
				return
			}
		}
	}))
	t.Cleanup(upstream.Close)
	proxy, err := Serve(w.Begin(), &rest.Config{Host: upstream.URL}, t.TempDir())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	return proxy.Kubeconfig, queries
}

// get requests ConfigMaps. The response is open until the test ends.
func get(t *testing.T, kubeconfig, query string) (status int, body io.Reader, err error) {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	require.NoError(t, err)
	made, err := http.NewRequestWithContext(t.Context(), http.MethodGet, config.Host+"/api/v1/namespaces/shop/configmaps?"+query, http.NoBody)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(made)
	if err != nil {
		return 0, nil, err
	}
	t.Cleanup(func() { _ = response.Body.Close() }) // It may be broken already.
	return response.StatusCode, response.Body, nil
}

// A test can delay the events of a watch, release them, end the watch, and let its resource version expire.
func TestStreams_ControlWatches(t *testing.T) {
	says, w := make(chan string), New(nil)
	kubeconfig, _ := watched(t, w, says)
	_, stream, err := get(t, kubeconfig, "watch=true&resourceVersion=7")
	require.NoError(t, err)
	lines := make(chan string)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(stream); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	says <- "one"
	require.Equal(t, "one", <-lines, "a watch streams")

	w.Streams.Hold()
	says <- "two"
	select {
	case line := <-lines:
		require.Fail(t, "came through", line)
	case <-time.After(100 * time.Millisecond):
	}
	w.Streams.Release()
	require.Equal(t, "two", <-lines)

	w.Streams.Expire()
	_, open := <-lines
	require.False(t, open, "cut")
	status, again, err := get(t, kubeconfig, "watch=true&resourceVersion=7")
	require.NoError(t, err)
	require.Equal(t, http.StatusGone, status)
	text, err := io.ReadAll(again)
	require.NoError(t, err)
	require.Contains(t, string(text), `"reason":"Expired"`)
}

// A test can make lists from the cache return the objects of an earlier resource version.
func TestBackdate_ReturnsListsOfEarlierVersion(t *testing.T) {
	w := New(nil)
	kubeconfig, queries := watched(t, w, nil)
	w.Streams.Backdate("7")
	for given, want := range map[string]string{
		"resourceVersion=0": "resourceVersion=7&resourceVersionMatch=Exact", "": "", "resourceVersion=9": "resourceVersion=9",
	} {
		_, _, err := get(t, kubeconfig, given)
		require.NoError(t, err)
		require.Equal(t, want, (<-queries).Encode())
	}

	status, _, err := get(t, kubeconfig, "watch=true&sendInitialEvents=true")
	require.NoError(t, err)
	require.Equal(t, http.StatusUnprocessableEntity, status, "so that the program asks for a list")
}

// After CrashIntoPast, the next operator first lists the state before the write.
func TestCrashIntoPast_ListsStateBeforeWrite(t *testing.T) {
	w := New(&Fault{At: Write{"apply deployments", 1}, Effect: CrashIntoPast})
	var asked []string
	next := roundTripper(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.Method+" "+r.URL.RequestURI())
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"metadata":{"resourceVersion":"7"}}`)), Request: r}, nil
	})
	_, err := w.Begin().Through(next).RoundTrip(request(t, "PATCH", deployment, "application/apply-patch+yaml")) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, errDead)

	response, err := w.Begin().Through(next).RoundTrip(request(t, "GET", "/apis/apps/v1/namespaces/shop/deployments?resourceVersion=0", ""))

	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, []string{
		"GET /api/v1/namespaces/shop/configmaps?limit=1",
		"PATCH " + deployment,
		"GET /apis/apps/v1/namespaces/shop/deployments?resourceVersion=7&resourceVersionMatch=Exact",
	}, asked)
}

// After a crash, the proxy neither forwards nor answers requests of that process.
func TestProxy_BreaksConnectionsAfterCrash(t *testing.T) {
	w := New(nil)
	upstream := httptest.NewServer(http.NotFoundHandler())
	defer upstream.Close()
	life := w.Begin()
	proxy, err := Serve(life, &rest.Config{Host: upstream.URL}, t.TempDir())
	require.NoError(t, err)
	defer func() { require.NoError(t, proxy.Close()) }()
	_, _, err = get(t, proxy.Kubeconfig, "")
	require.NoError(t, err)

	life.Crash()

	_, _, err = get(t, proxy.Kubeconfig, "")
	require.Error(t, err)
}

// A program that has just started, or reads, is not idle, even if it does not write. A program that reads only its
// Lease is idle.
func TestIdle_IsFalseWhileProgramReads(t *testing.T) {
	_, next := server(t)
	of := New(nil)
	long := func() {
		of.mu.Lock()
		defer of.mu.Unlock()
		of.asked, of.last = of.asked.Add(-time.Hour), of.last.Add(-time.Hour)
	}
	life := of.Begin()
	for path, isIdle := range map[string]bool{
		deployment: false, "/apis/apps/v1/deployments": false, "/apis/coordination.k8s.io/v1/namespaces/shop/leases/a": true,
	} {
		long()
		response, err := life.Through(next).RoundTrip(request(t, http.MethodGet, path, ""))
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		require.Equal(t, isIdle, of.Idle() > time.Minute, path)
		require.Greater(t, of.Quiet(), time.Minute)
	}
	long()
	of.Begin()
	require.Less(t, of.Idle(), time.Minute)
}
