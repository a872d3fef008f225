// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
)

func TestProcess_ReportsStuckReconcileAsUnhealthy(t *testing.T) {
	namespace, health, g := world.Namespace(t), freeport.ForTest(t), newGate()
	through(g.hold).StartObserved(t, operator.Options{HealthProbeBindAddress: health, WatchNamespaces: []string{namespace}},
		operator.Process{Timeout: 500 * time.Millisecond})
	harness.Eventually(t, "a passing liveness probe", func() bool { return get(t, health, "/healthz") == http.StatusOK })
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)
	<-g.reached

	harness.Eventually(t, "the failing liveness probe", func() bool { return get(t, health, "/healthz") == http.StatusInternalServerError })

	close(g.open)
	harness.Eventually(t, "a passing liveness probe again", func() bool { return get(t, health, "/healthz") == http.StatusOK })
	harness.Until(t, world, cart, "the sidecar", isInjected)
}

func TestProcess_ReportsReadyAfterCacheSync(t *testing.T) {
	namespace, health := world.Namespace(t), freeport.ForTest(t)
	open := make(chan struct{})
	// The list of Deployments is not answered until the test continues.
	slow := func(next roundTripper) roundTripper {
		return func(request *http.Request) (*http.Response, error) {
			if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/deployments") {
				<-open
			}
			return next(request)
		}
	}
	through(slow).StartOperator(t, operator.Options{HealthProbeBindAddress: health, WatchNamespaces: []string{namespace}})

	harness.Eventually(t, "a passing liveness probe", func() bool { return get(t, health, "/healthz") == http.StatusOK })
	require.Equal(t, http.StatusInternalServerError, get(t, health, "/readyz"))
	close(open)
	harness.Eventually(t, "readiness", func() bool { return get(t, health, "/readyz") == http.StatusOK })
}

func TestProcess_ServesProfilesOnlyIfConfigured(t *testing.T) {
	namespace, health, profiles := world.Namespace(t), freeport.ForTest(t), freeport.ForTest(t)
	options := operator.Options{HealthProbeBindAddress: health, WatchNamespaces: []string{namespace}}
	quiet := world.StartOperator(t, options)
	harness.Eventually(t, "readiness", func() bool { return get(t, health, "/readyz") == http.StatusOK })
	require.Equal(t, http.StatusNotFound, get(t, health, "/debug/pprof/"))
	require.NoError(t, quiet.Stop())

	options.PprofBindAddress = profiles
	world.StartOperator(t, options)
	harness.Eventually(t, "profiles", func() bool { return get(t, profiles, "/debug/pprof/heap") == http.StatusOK })
}

// When the operator is stopped, it waits for its writes in progress. Otherwise, such a write could be stored after
// another operator leads.
func TestProcess_FinishesWritesBeforeStop(t *testing.T) {
	namespace, g := world.Namespace(t), newGate()
	o := through(g.hold).StartOperator(t, operator.Options{WatchNamespaces: []string{namespace}})
	cart := labeled(t, "cart", namespace)
	sidecar(t, namespace)
	<-g.reached
	stopped := make(chan error)

	go func() { stopped <- o.Stop() }()
	select {
	case err := <-stopped:
		require.Fail(t, "it stopped in the middle of a write", "with %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	close(g.open)

	require.NoError(t, <-stopped)
	world.Get(t, cart)
	require.True(t, isInjected(cart))
}

// heldDiscovery blocks all requests for the API of MutatingAdmissionPolicies, except the first one, which is sent
// during the start. That check runs in every replica, so the manager waits for it before it stops the leader's
// runnables.
type heldDiscovery struct {
	requests      atomic.Int32
	reached, open chan struct{}
}

func (h *heldDiscovery) hold(next roundTripper) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		if strings.HasPrefix(request.URL.Path, "/apis/admissionregistration.k8s.io/") && h.requests.Add(1) == 2 {
			close(h.reached)
			<-h.open
		}
		return next(request)
	}
}

// After the stop signal, the operator finishes the writes that it has sent, and starts no other one, however long the
// stop takes. The next operator writes the rest.
func TestOperator_StartsNoWriteAfterStopSignal(t *testing.T) {
	const workloads, writers = 40, 16
	namespace, g := world.Namespace(t), newGate()
	discovery := &heldDiscovery{reached: make(chan struct{}), open: make(chan struct{})}
	options := operator.Options{WatchNamespaces: []string{namespace}, AdmissionInjection: true}
	var deployments []*appsv1.Deployment
	for i := range workloads {
		deployments = append(deployments, labeled(t, fmt.Sprintf("cart-%d", i), namespace))
	}
	vs, below := sidecar(t, namespace), "/namespaces/"+namespace+"/deployments"
	seen := through(func(next roundTripper) roundTripper { return discovery.hold(g.hold(next)) })
	o := seen.StartObserved(t, options, operator.Process{PolicyInterval: 100 * time.Millisecond})
	for range writers {
		<-g.reached
	}
	<-discovery.reached

	o.RequestStop()
	close(g.open)
	select {
	case <-g.reached:
		require.Fail(t, "a write began after the signal")
	case <-time.After(500 * time.Millisecond):
	}
	close(discovery.open)
	require.NoError(t, o.Stop())

	require.Len(t, o.Requests.Writes(below), writers)
	injected := 0
	for _, deployment := range deployments {
		if world.Get(t, deployment); isInjected(deployment) {
			injected++
		}
	}
	require.Equal(t, writers, injected)
	next := world.StartOperator(t, options)
	harness.Until(t, world, vs, "all sidecars", func(vs *v1alpha1.VectorSidecar) bool { return vs.Status.InjectedDeployments == workloads })
	require.Len(t, next.Requests.Writes(below), workloads-writers)
}

// The API server does not answer, so that the caches never sync. The operator still stops after a signal.
func TestProcess_StopsDuringCacheSync(t *testing.T) {
	asked := make(chan struct{}, 10)
	silent := func(next roundTripper) roundTripper {
		return func(request *http.Request) (*http.Response, error) {
			if !strings.HasSuffix(request.URL.Path, "/deployments") {
				return next(request)
			}
			asked <- struct{}{}
			<-request.Context().Done()
			return nil, request.Context().Err()
		}
	}
	for name, arguments := range map[string][]string{
		"alone":       nil,
		"one of many": {"--leader-elect", "--leader-election-id=" + leaseName(t)},
	} {
		t.Run(name, func(t *testing.T) {
			p := harness.StartProcess(t, program, kubeconfigThrough(t, silent), harness.Settings{
				Arguments: append([]string{"--namespace=" + own}, arguments...),
			})
			<-asked

			p.Signal(t, syscall.SIGTERM)
			select {
			case <-p.Ended():
			case <-time.After(harness.Patience):
				require.FailNow(t, "it goes on after the signal to stop")
			}
			require.Zero(t, p.ExitCode())
		})
	}
}
