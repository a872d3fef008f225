// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package admission

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/policy"
	"kontroloop.ai/vector-sidecar-operator/internal/render"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
	"kontroloop.ai/vector-sidecar-operator/test/hostile"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// world is a namespace as the controller would see it, or several that are alike.
type world struct {
	namespaces []clusterwide.Namespace                                      // that a ClusterVectorSidecar selects
	selects    func(*v1alpha1.ClusterVectorSidecar) []clusterwide.Namespace // the same, by what it is; may be nil
	in         func(*decision.Input)                                        // what a namespace has of its own; may be nil
	workloads  []*workloadcache.Record
	others     []v1alpha1.VectorSidecar
	defaults   string // of the namespace
	platform   *desired.Platform
	bare       *desired.Platform // without ConfigMaps
	forbidden  string            // a ConfigMap that may not be read
	err        error
	asked      atomic.Int32
	held       chan struct{} // if not nil, each snapshot waits for it
}

func newWorld(t *testing.T) *world {
	t.Helper()
	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	w := &world{platform: desired.NewPlatform(chart, "", nil), bare: desired.NewPlatform(chart, "", nil)}
	w.platform.Policy.Overrides.Namespaces = []string{"sidecar.logLevel"}
	return w
}

func (w *world) Snapshot(_ context.Context, sidecar *v1alpha1.VectorSidecar) (*decision.Input, error) {
	w.asked.Add(1)
	if w.held != nil {
		<-w.held
	}
	taken := &decision.Input{
		Inputs:    desired.Inputs{Sidecar: sidecar, ConfigMaps: w, Accounts: w, Platform: w.platform, Settings: desired.Settings{DefaultEnvironment: "development", KubeVersion: "v1.36.0"}},
		Workloads: w.workloads, Others: w.others,
	}
	if w.in != nil {
		w.in(taken)
	}
	return taken, nil
}

func (w *world) Namespaces(_ context.Context, cluster *v1alpha1.ClusterVectorSidecar) ([]clusterwide.Namespace, error) {
	if w.selects != nil {
		return w.selects(cluster), w.err
	}
	return w.namespaces, w.err
}

func (w *world) GetConfigMap(_ context.Context, name types.NamespacedName) (*corev1.ConfigMap, error) {
	switch {
	case w.err != nil:
		return nil, w.err
	case name.Name == w.forbidden:
		return nil, errors.New("it is not to be read")
	case name.Name == meta.NamespaceDefaults && w.defaults != "":
		return objects.NewConfigMap(name.Name, name.Namespace, meta.NamespaceDefaultsKey, w.defaults), nil
	}
	return nil, nil
}

func (w *world) GetServiceAccount(context.Context, types.NamespacedName) (*workload.Account, error) {
	return &workload.Account{Unread: "no permission to read the ServiceAccount"}, nil
}

// handler returns a Handler for the world.
func (w *world) handler() *Handler { return New(Options{World: w, Bare: w.bare}) }

// asked returns the answer to a request of the API server that changes before into after; before is
// nil on creation.
func asked(t *testing.T, w *world, before, after *v1alpha1.VectorSidecar) admission.Response {
	t.Helper()
	return w.handler().Handle(WithAPIServer(t.Context()), requested(t, before, after))
}

// askedByAnybody is the same for a request of an unauthenticated client.
func askedByAnybody(t *testing.T, w *world, before, after *v1alpha1.VectorSidecar) admission.Response {
	t.Helper()
	return w.handler().Handle(t.Context(), requested(t, before, after))
}

func requested[T v1alpha1.VectorSidecar | v1alpha1.ClusterVectorSidecar](t *testing.T, before, after *T) admission.Request {
	t.Helper()
	request := admission.Request{AdmissionRequest: admissionv1.AdmissionRequest{Operation: admissionv1.Create}}
	var err error
	request.Object.Raw, err = json.Marshal(after)
	require.NoError(t, err)
	if before != nil {
		request.Operation = admissionv1.Update
		request.OldObject.Raw, err = json.Marshal(before)
		require.NoError(t, err)
	}
	return request
}

func logs() *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector")
}

const broken = "sources:\n  in:\n    type: nothing\n"

func TestHandler_AllowsUpdatesWithoutSpecChange(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("not to be asked")
	before := logs().WithInlineConfig(broken).Build()
	labeled := before.DeepCopy()
	labeled.Labels, labeled.Finalizers = map[string]string{"a": "b"}, []string{"example.com/own"}
	going := logs().WithInlineConfig(broken + "\n").Build()
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}

	require.True(t, asked(t, w, before, labeled).Allowed)
	require.True(t, asked(t, w, before, going).Allowed)
	require.Zero(t, w.asked.Load())
}

// If the operator cannot read an object for the decision, the webhook denies the request and returns the error.
func TestHandler_DeniesRequestIfReadFails(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("the API server is away")

	answer := asked(t, w, nil, logs().Build())

	require.False(t, answer.Allowed)
	require.EqualValues(t, http.StatusServiceUnavailable, answer.Result.Code)
	require.Equal(t, "deciding on the admission of VectorSidecar shop/logs: the API server is away", answer.Result.Message)
}

// An error in the defaults of a namespace does not deny a VectorSidecar there. The answer contains a warning.
func TestHandler_WarnsAboutFaultsOfNamespaceDefaults(t *testing.T) {
	w := newWorld(t)
	w.defaults = "sidecar: {image: mine}"

	answer := asked(t, w, nil, logs().Build())
	require.True(t, answer.Allowed)
	require.Contains(t, fmt.Sprint(answer.Warnings), "a namespace may not set sidecar.image")

	w.defaults = "sidecar: {logLevel: loud}"
	answer = asked(t, w, nil, logs().Build())
	require.True(t, answer.Allowed, answer.Result)
	require.NotEmpty(t, answer.Warnings)
}

// For an unauthenticated client, the answer contains only text that the client sent, and no text from a ConfigMap of
// the namespace or of the installation.
func TestHandler_HidesConfigMapsFromUnauthenticatedClients(t *testing.T) {
	w := newWorld(t)
	w.defaults = "sidecar: {s3cret: yes}"

	answer := asked(t, w, nil, logs().Build())
	require.True(t, answer.Allowed)
	require.Contains(t, fmt.Sprint(answer.Warnings), "s3cret")
	answer = askedByAnybody(t, w, nil, logs().Build())
	require.True(t, answer.Allowed)
	require.NotContains(t, fmt.Sprint(answer), "s3cret")
	require.Equal(t, []string{"VectorSidecar shop/logs: InvalidValues: the message may quote ConfigMaps, so it is shown only to users who may read them: kubectl vectorsidecar plan -n shop --sidecar FILE"}, answer.Warnings)

	chart, err := render.LoadChart(vectorsidecar.FS)
	require.NoError(t, err)
	w.defaults = ""
	w.platform = desired.NewPlatform(chart, "ConfigMap vector-system/values", map[string]string{
		"development.yaml": "sidecar: {sinks: {out: {type: s3cret}}}",
	})
	sidecar := logs().WithLogs("/var/log/app").Build()
	require.Contains(t, asked(t, w, nil, sidecar).Result.Message, "s3cret")
	answer = askedByAnybody(t, w, nil, sidecar)
	require.False(t, answer.Allowed, "the answer is the same but for its words")
	require.NotContains(t, fmt.Sprint(answer), "s3cret")

	w.platform.Policy, err = policy.Parse("policy", []byte("images: {registries: [s3cret.example.com]}"))
	require.NoError(t, err)
	answer = askedByAnybody(t, w, nil, logs().Build())
	require.False(t, answer.Allowed)
	require.NotContains(t, fmt.Sprint(answer), "s3cret")
	require.Contains(t, answer.Result.Message, "PolicyViolation: the message may quote ConfigMaps")
}

// Also an unauthenticated client gets the errors of the object that it sent, because it knows this text.
func TestHandler_ReportsFaultsOfSentObjectToAllClients(t *testing.T) {
	w := newWorld(t)
	w.defaults = "sidecar: {logLevel: warn}"
	bad := logs().WithInlineConfig(broken).Build()
	good := logs().WithInlineConfig("sources: {in: {type: demo_logs, format: json}}\nsinks: {out: {type: console, inputs: [in], encoding: {codec: json}}}").Build()

	answer := askedByAnybody(t, w, nil, bad)
	require.False(t, answer.Allowed)
	require.Equal(t, asked(t, w, nil, bad).Result.Message, answer.Result.Message)
	require.Contains(t, answer.Result.Message, "spec.sidecar.config.inline:3:11")
	require.True(t, askedByAnybody(t, w, nil, good).Allowed)
	changed := bad.DeepCopy()
	changed.Spec.MatchAll = true
	answer = askedByAnybody(t, w, bad, changed)
	require.True(t, answer.Allowed)
	require.Contains(t, fmt.Sprint(answer.Warnings), "existed before this change: VectorSidecar shop/logs spec.sidecar.config.inline:3:11")
}

// The webhook does not check the content of a referenced ConfigMap, because the content may change at any time. The
// controller checks the content before it reaches a pod.
func TestHandler_IgnoresReferencedConfigMap(t *testing.T) {
	w := newWorld(t)
	w.defaults = "sidecar: {logLevel: warn}"
	w.forbidden = "given"

	answer := asked(t, w, nil, logs().WithConfigMap("given", "vector.yaml").Build())

	require.True(t, answer.Allowed, answer.Result)
	require.Empty(t, answer.Warnings)
}

// The webhook denies a VectorSidecar that conflicts with another one, whether the other one is older or younger.
func TestHandler_DeniesConflictsWithOtherVectorSidecars(t *testing.T) {
	w := newWorld(t)
	w.workloads = []*workloadcache.Record{workloadcache.NewRecord(objects.NewDeployment("cart", "shop").Labeled("logs", "vector").Build())}
	aged := func(b *objects.VectorSidecar, age time.Duration) *v1alpha1.VectorSidecar {
		sidecar := b.Build()
		sidecar.CreationTimestamp = metav1.NewTime(time.Now().Add(-age))
		return sidecar
	}
	before, after := aged(logs().Named("own"), time.Hour), aged(logs(), time.Hour)
	for name, age := range map[string]time.Duration{"older": 2 * time.Hour, "younger": time.Minute} {
		other := objects.NewVectorSidecar(name, "shop").Selecting("logs", "vector")
		w.others = []v1alpha1.VectorSidecar{*aged(other, age)}

		answer := asked(t, w, before, after)

		require.False(t, answer.Allowed, name)
		require.Contains(t, answer.Result.Message, `Deployment shop/cart: VectorSidecar shop/`+name+` also injects a container "vector"`)
		require.True(t, asked(t, w, nil, before).Allowed, "another name does not conflict")
		w.others[0].Spec.Enabled = new(bool)
		require.True(t, asked(t, w, before, after).Allowed, "one that is off takes nothing")
	}
}

// The webhook checks a limited number of workloads, sorted by name. It allows a VectorSidecar that conflicts only in a
// later one.
func TestHandler_LimitsCheckedWorkloads(t *testing.T) {
	w := newWorld(t)
	w.others = []v1alpha1.VectorSidecar{*objects.NewVectorSidecar("other", "shop").Selecting("crowded", "yes").Build()}
	for n := range mostWorkloads + 1 {
		deployment := objects.NewDeployment(fmt.Sprintf("app-%03d", mostWorkloads-n), "shop").Labeled("logs", "vector")
		if n == 0 {
			deployment.Labeled("crowded", "yes")
		}
		w.workloads = append(w.workloads, workloadcache.NewRecord(deployment.Build()))
	}

	require.True(t, asked(t, w, nil, logs().Build()).Allowed, "the conflict is in the last by name")
	w.workloads = w.workloads[:mostWorkloads]
	require.False(t, asked(t, w, nil, logs().Build()).Allowed)
}

// Requests in one namespace get at most half of the slots, so they do not delay requests in another namespace.
func TestHandler_LimitsConcurrentRequests(t *testing.T) {
	w := newWorld(t)
	w.held = make(chan struct{})
	handler := w.handler()
	create := func(namespace string) admission.Request {
		request := admission.Request{}
		request.Operation, request.Namespace = admissionv1.Create, namespace
		request.Object.Raw = fmt.Appendf(nil, `{"metadata": {"name": "logs", "namespace": %q}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}`, namespace)
		return request
	}
	var requests sync.WaitGroup
	isAsked := func(count int32) func() bool { return func() bool { return w.asked.Load() == count } }
	for range mostOfNamespace {
		requests.Go(func() { handler.Handle(t.Context(), create("shop")) })
	}
	require.Eventually(t, isAsked(mostOfNamespace), time.Minute, time.Millisecond)
	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	require.False(t, handler.Handle(impatient, create("shop")).Allowed, "the namespace has its slots, and the request waits no longer")

	for range mostAtOnce - mostOfNamespace {
		requests.Go(func() { handler.Handle(t.Context(), create("office")) })
	}
	require.Eventually(t, isAsked(mostAtOnce), time.Minute, time.Millisecond)
	require.False(t, handler.Handle(impatient, create("home")).Allowed, "all slots are in use")
	require.EqualValues(t, mostAtOnce, w.asked.Load())
	close(w.held)
	requests.Wait()
	require.True(t, handler.Handle(t.Context(), create("shop")).Allowed)
}

// An answer of the webhook with many findings has a limited number of lines, and states how many are left out.
func TestAnswer_LimitsLines(t *testing.T) {
	j := review{}
	for n := range 15 {
		j.faults = append(j.faults, remark{text: fmt.Sprintf("fault %d", n)})
		j.doubts = append(j.doubts, remark{text: fmt.Sprintf("doubt\n  %d", n)}, remark{text: "one that is told once"})
	}
	answer := j.answer()

	require.Contains(t, answer.Result.Message, "fault 9\nand 5 more")
	require.Len(t, answer.Warnings, mostLines+1)
	require.Equal(t, "doubt 0", answer.Warnings[0])
}

// The webhook escapes control characters in its answers, because kubectl prints them unchanged.
func TestAnswer_EscapesControlCharacters(t *testing.T) {
	for why, text := range hostile.Texts() {
		j := review{faults: []remark{{text: text}}, doubts: []remark{{text: text}}}
		answer := j.answer()
		// kubectl itself prints the beginning of the line.
		hostile.RequireHarmless(t, "denied: "+answer.Result.Message, why)
		hostile.RequireHarmless(t, "Warning: "+answer.Warnings[0], why)
	}
}
