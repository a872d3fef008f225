// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// roundTripper makes a request.
type roundTripper func(*http.Request) (*http.Response, error)

// RoundTrip makes a request.
func (f roundTripper) RoundTrip(request *http.Request) (*http.Response, error) { return f(request) }

// through replaces the operator of all tests, for one test, by an operator whose requests to the API server go
// through a wrapped transport.
func through(t *testing.T, wrap func(http.RoundTripper) http.RoundTripper) *harness.Operator {
	t.Helper()
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	seen := *world
	seen.Operator = rest.CopyConfig(world.Operator)
	seen.Operator.Wrap(wrap)
	return seen.StartOperator(t, options)
}

// lag delays the events of all watches of Deployments, from hold to release.
type lag struct {
	mu   sync.Mutex
	open chan struct{}
}

func newLag() *lag {
	l := &lag{open: make(chan struct{})}
	close(l.open)
	return l
}

func (l *lag) hold() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open = make(chan struct{})
}

func (l *lag) release() {
	l.mu.Lock()
	defer l.mu.Unlock()
	close(l.open)
}

func (l *lag) gate() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open
}

func (l *lag) through(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		response, err := next.RoundTrip(request)
		if err == nil && request.URL.Query().Get("watch") != "" && strings.HasSuffix(request.URL.Path, "/deployments") {
			response.Body = &late{ReadCloser: response.Body, by: l, ended: request.Context().Done()}
		}
		return response, err
	})
}

// late is the response body of a watch. Reads return received events only while the lag is open.
type late struct {
	io.ReadCloser
	by    *lag
	ended <-chan struct{}
}

func (b *late) Read(into []byte) (int, error) {
	n, err := b.ReadCloser.Read(into)
	select {
	case <-b.by.gate():
	case <-b.ended:
	}
	return n, err
}

// The watch of Deployments lags behind. The operator does not repeat a patch of the outdated version. It reads the
// Deployment once, and continues with that version.
func TestOperator_DoesNotRepeatPatchWhileWatchLags(t *testing.T) {
	namespace, behind := world.Namespace(t), newLag()
	o := through(t, behind.through)
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	vs := objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").
		Sidecar(sharesLogs("app")).WithMaxConcurrent("100%").Build()
	world.Create(t, cart, vs)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	harness.Until(t, world, vs, "readiness", isUpToDate)
	path := "/namespaces/" + namespace + "/deployments/cart"
	before := len(o.Requests.Writes(path))

	behind.hold()
	harness.Change(t, world, cart, func(d *appsv1.Deployment) { metav1.SetMetaDataAnnotation(&d.ObjectMeta, "team", "shop") })
	// If the mounts stayed the same, the operator would apply, which needs no version.
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Spec.Sidecar.LogLevel, vs.Spec.Sidecar.Logs.Path = "trace", "/srv/logs"
	})
	harness.Until(t, world, cart, "the new sidecar in spite of a stale watch", func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.InitContainers[0].Env[0].Value == "trace"
	})
	change := len(o.Requests.Writes(path)) - before
	require.LessOrEqual(t, change, 10, "one attempt on the old view, and one on the new, of some requests each")
	require.Len(t, o.Requests.Reads(path), 1, "one look at the workload, and not at others")

	// The delayed events then cause no further writes.
	behind.release()
	generation := cart.Generation
	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) { vs.Spec.Sidecar.LogLevel = "debug" })
	harness.Until(t, world, cart, "the next sidecar", func(d *appsv1.Deployment) bool {
		return d.Spec.Template.Spec.InitContainers[0].Env[0].Value == "debug"
	})
	require.LessOrEqual(t, cart.Generation-generation, int64(2), "one rollout, and what is left of the one before")
}

// refuser answers the first patches of Deployments with a conflict, although their version is current.
type refuser struct {
	mu   sync.Mutex
	left int
}

func (r *refuser) through(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(request *http.Request) (*http.Response, error) {
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.left == 0 || request.Method != http.MethodPatch || !strings.Contains(request.URL.Path, "/deployments/") {
			return next.RoundTrip(request)
		}
		r.left--
		const status = `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Conflict","code":409,"message":"the object has been modified"}`
		return &http.Response{
			StatusCode: http.StatusConflict, Header: http.Header{"Content-Type": {"application/json"}},
			Body: io.NopCloser(bytes.NewBufferString(status)), Request: request,
		}, nil
	})
}

// After a conflict, the workload is unchanged, so that no event follows. The operator reads the workload and retries.
func TestOperator_RetriesConflictWithoutChange(t *testing.T) {
	namespace, refusing := world.Namespace(t), &refuser{left: 2}
	o := through(t, refusing.through)
	cart := objects.NewDeployment("cart", namespace).Labeled("logs", "vector").Build()
	world.Create(t, cart)
	harness.Until(t, world, cart, "its first rollout, which changes it", isRolledOut)
	world.Create(t, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").Build())

	harness.Until(t, world, cart, "the sidecar", isInjected)

	path := "/namespaces/" + namespace + "/deployments/cart"
	require.Len(t, o.Requests.Writes(path), 3)
	require.Len(t, o.Requests.Reads(path), 2, "a look before each further attempt")
}

// An operator that is stopped right after its start, for example by its own rollout, returns no error.
func TestOperator_StopsWithoutErrorDuringStart(t *testing.T) {
	require.NoError(t, running.Stop())
	t.Cleanup(func() { running = world.RunOperator(options) })
	for range 5 {
		require.NoError(t, world.RunOperator(options).Stop())
	}
}
