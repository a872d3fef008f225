// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package process

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/operator"
	"kontroloop.ai/vector-sidecar-operator/test/freeport"
	"kontroloop.ai/vector-sidecar-operator/test/harness"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// lostEvent drops one watch event of Deployments, as proxies and API servers may do: the first event of the given
// type and object name.
type lostEvent struct {
	kind, name string
	once       sync.Once
	lost       chan struct{}
}

func newLostEvent(kind, name string) *lostEvent {
	return &lostEvent{kind: kind, name: name, lost: make(chan struct{})}
}

func (l *lostEvent) lose(next roundTripper) roundTripper {
	return func(request *http.Request) (*http.Response, error) {
		if request.URL.Query().Get("watch") == "" || !strings.HasSuffix(request.URL.Path, "/deployments") {
			return next(request)
		}
		request = request.Clone(request.Context())
		request.Header.Set("Accept", "application/json") // An event is a line.
		response, err := next(request)
		if err == nil {
			response.Body = l.filter(response.Body)
		}
		return response, err
	}
}

// filter forwards all events except the dropped one.
func (l *lostEvent) filter(events io.ReadCloser) io.ReadCloser {
	from, to := io.Pipe()
	go func() {
		lines := bufio.NewReader(events)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				_ = to.CloseWithError(err)
				return
			}
			isLost := false
			if bytes.Contains(line, []byte(`"type":"`+l.kind+`"`)) && bytes.Contains(line, []byte(`"name":"`+l.name+`"`)) {
				l.once.Do(func() { isLost = true })
			}
			if isLost {
				close(l.lost)
				continue
			}
			if _, err := to.Write(line); err != nil {
				return // Nobody reads any more.
			}
		}
	}()
	return &joined{from, events}
}

// joined reads from a pipe and also closes the original body.
type joined struct {
	*io.PipeReader
	body io.Closer
}

// Close closes both.
func (j *joined) Close() error {
	_ = j.PipeReader.Close()
	return j.body.Close()
}

// A watch has lost an event. A requested live list corrects the cache. All VectorSidecars of the namespace that request
// it share one list.
func TestResyncer_CorrectsCacheWithLiveList(t *testing.T) {
	request := func(t *testing.T, vs *v1alpha1.VectorSidecar) {
		harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
			vs.Annotations = map[string]string{meta.AnnotationReconcileAt: "now" + meta.ReconcileLive}
		})
		harness.Until(t, world, vs, "the response", func(vs *v1alpha1.VectorSidecar) bool {
			return vs.Status.LastHandledReconcileAt == "now"+meta.ReconcileLive
		})
	}
	takenOut := func(t *testing.T, cart *appsv1.Deployment) {
		harness.Change(t, world, cart, func(d *appsv1.Deployment) {
			d.Spec.Template.Spec.InitContainers, d.Annotations = nil, nil
			d.Spec.Template.Annotations = map[string]string{"example.com/changed": "true"}
		})
	}
	added := func(t *testing.T, cart *appsv1.Deployment) { labeled(t, "late", cart.Namespace) }
	deleted := func(t *testing.T, cart *appsv1.Deployment) { world.Delete(t, cart) }
	matches := func(n int32) func(*v1alpha1.VectorSidecar) bool {
		return func(vs *v1alpha1.VectorSidecar) bool {
			return vs.Status.MatchedDeployments == n && vs.Status.InjectedDeployments == n
		}
	}
	for name, test := range map[string]struct {
		kind, object string
		change       func(*testing.T, *appsv1.Deployment)
		then         func(*v1alpha1.VectorSidecar) bool
	}{
		"a change":         {"MODIFIED", "cart", takenOut, matches(1)},
		"a new Deployment": {"ADDED", "late", added, matches(2)},
		"a deletion":       {"DELETED", "cart", deleted, matches(0)},
	} {
		t.Run(name, func(t *testing.T) {
			namespace := world.Namespace(t)
			options := installation(t, namespace, "audit")
			event := newLostEvent(test.kind, test.object)
			cart := labeled(t, "cart", namespace)
			vs := sidecar(t, namespace)
			other := objects.NewVectorSidecar("other", namespace).Selecting("logs", "none").Build()
			world.Create(t, other)
			first := world.StartOperator(t, options)
			harness.Until(t, world, vs, "the injection", matches(1))
			require.NoError(t, first.Stop())
			running := through(event.lose).StartOperator(t, options)
			awaitMetric(t, options, `vectorsidecar_objects{ready="False",reason="RollingOut"} 1`)

			atStart := len(liveLists(running, namespace)) // Of the informer, without WatchList.

			test.change(t, cart)
			<-event.lost
			request(t, other)
			request(t, vs)

			harness.Until(t, world, vs, "the current state", test.then)
			require.Len(t, liveLists(running, namespace), atStart+1)
			if test.kind == "MODIFIED" {
				harness.Until(t, world, cart, "the sidecar again", func(d *appsv1.Deployment) bool { return hasContainer(d, "vector") })
			}
		})
	}
}

// liveLists returns the requests of an operator for the list of a namespace's Deployments.
func liveLists(running *harness.Operator, namespace string) []harness.Request {
	return slices.DeleteFunc(running.Requests.Reads("/namespaces/"+namespace+"/deployments"), func(r harness.Request) bool {
		return !strings.HasSuffix(r.Path, "/deployments") // A single object.
	})
}

func hasContainer(d *appsv1.Deployment, name string) bool {
	for _, c := range append([]corev1.Container{}, append(d.Spec.Template.Spec.InitContainers, d.Spec.Template.Spec.Containers...)...) {
		if c.Name == name {
			return true
		}
	}
	return false
}

// A periodic resync renders again. If nothing has changed, it sends no requests.
func TestResyncer_SendsNoRequestsWithoutChanges(t *testing.T) {
	namespace := world.Namespace(t)
	options := operator.Options{Namespace: own, WatchNamespaces: []string{namespace}, MetricsBindAddress: freeport.ForTest(t), ReconcileInterval: time.Second}
	world.Create(t, objects.NewConfigMap("pipeline", namespace, "vector.yaml", objects.VectorConfig("hello")))
	cart := labeled(t, "cart", namespace)
	world.Create(t, objects.NewVectorSidecar("logs", namespace).Selecting("logs", "vector").WithConfigMap("pipeline", "").Build())
	running := world.StartOperator(t, options)
	harness.Until(t, world, cart, "the sidecar", isInjected)
	token := reader(t)
	count := func(series string) int {
		for line := range strings.Lines(scrape(t, options.MetricsBindAddress, token).text) {
			if value, found := strings.CutPrefix(line, series+" "); found {
				n, err := strconv.Atoi(strings.TrimSpace(value))
				require.NoError(t, err)
				return n
			}
		}
		return 0
	}
	judged := func() int { return count(`vectorsidecar_resyncs_total{result="same"}`) }
	requests := func() (made []harness.Request) {
		for _, request := range append(running.Requests.Reads(""), running.Requests.Writes("")...) {
			if !strings.HasSuffix(request.Path, "reviews") { // Those are about who reads metrics.
				made = append(made, request)
			}
		}
		return made
	}
	harness.Eventually(t, "another check", func() bool { return judged() > 0 })
	before, made, rendered := judged(), requests(), count(`vectorsidecar_renders_total{result="ok"}`)

	harness.Eventually(t, "some more retries", func() bool { return judged() >= before+3 })

	require.Equal(t, made, requests())
	require.GreaterOrEqual(t, count(`vectorsidecar_renders_total{result="ok"}`), rendered+3, "nothing is remembered")
}

// A user sets the annotation reconcile-at. The operator reconciles, and the status has the handled value.
func TestReconcile_RunsOnRequest(t *testing.T) {
	namespace := world.Namespace(t)
	options := installation(t, namespace, "asked")
	cart := labeled(t, "cart", namespace)
	vs := sidecar(t, namespace)
	world.StartOperator(t, options)
	harness.Until(t, world, cart, "the sidecar", isInjected)

	harness.Change(t, world, vs, func(vs *v1alpha1.VectorSidecar) {
		vs.Annotations = map[string]string{meta.AnnotationReconcileAt: strings.Repeat("now", 100)}
	})

	harness.Until(t, world, vs, "the response", func(vs *v1alpha1.VectorSidecar) bool {
		return strings.HasPrefix(strings.Repeat("now", 100), vs.Status.LastHandledReconcileAt) && vs.Status.LastHandledReconcileAt != ""
	})
	awaitMetric(t, options, `vectorsidecar_resyncs_total{result="same"} 1`)
}
