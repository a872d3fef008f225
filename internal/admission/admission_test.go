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
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	vectorsidecar "kontroloop.ai/vector-sidecar-operator"
	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/platform"
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// world is a namespace as the loop would show it.
type world struct {
	workloads []*workload.Record
	others    []v1alpha1.VectorSidecar
	defaults  string // those of the namespace
	platform  *platform.Platform
	err       error
	asked     atomic.Int32
	held      chan struct{} // Each snapshot waits for it, if there is one.
}

func newWorld(t *testing.T) *world {
	t.Helper()
	chart, err := sidecarchart.Load(vectorsidecar.FS)
	require.NoError(t, err)
	w := &world{platform: platform.Of(chart, "", nil)}
	w.platform.Policy.Overrides.Namespaces = []string{"sidecar.logLevel"}
	return w
}

func (w *world) Snapshot(_ context.Context, sidecar *v1alpha1.VectorSidecar, fail context.CancelCauseFunc) (*decision.Snapshot, error) {
	w.asked.Add(1)
	if w.held != nil {
		<-w.held
	}
	return &decision.Snapshot{
		Sidecar: sidecar, Workloads: w.workloads, Others: w.others, Platform: w.platform,
		DefaultEnvironment: "development", KubeVersion: "v1.36.0",
		ConfigMap: func(name string) *corev1.ConfigMap {
			if w.err != nil {
				fail(w.err)
			}
			if name == "vectorsidecar-defaults" && w.defaults != "" {
				return objects.NewConfigMap(name, sidecar.Namespace, "values.yaml", w.defaults)
			}
			return nil
		},
	}, nil
}

// asked is the answer to a request to make something of a VectorSidecar, of nil to
// create it.
func asked(t *testing.T, w *world, before, after *v1alpha1.VectorSidecar) admission.Response {
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
	return New(w, nil).Handle(t.Context(), request)
}

func logs() *objects.VectorSidecar {
	return objects.NewVectorSidecar("logs", "shop").Selecting("logs", "vector")
}

const broken = "sources:\n  in:\n    type: nothing\n"

func TestWhatChangesNothingOfWhatIsWantedPasses(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("not to be asked")
	before := logs().WithInlineConfig(broken).Build()
	labelled := before.DeepCopy()
	labelled.Labels, labelled.Finalizers = map[string]string{"a": "b"}, []string{"example.com/own"}
	going := logs().WithInlineConfig(broken + "\n").Build()
	going.DeletionTimestamp = &metav1.Time{Time: time.Now()}

	require.True(t, asked(t, w, before, labelled).Allowed)
	require.True(t, asked(t, w, before, going).Allowed)
	require.Zero(t, w.asked.Load())
}

func TestWithoutADecisionTheAnswerIsNo(t *testing.T) {
	w := newWorld(t)
	w.err = errors.New("the API server is away")

	answer := asked(t, w, nil, logs().Build())

	require.False(t, answer.Allowed)
	require.EqualValues(t, http.StatusServiceUnavailable, answer.Result.Code)
	require.Equal(t, "deciding on VectorSidecar shop/logs: the API server is away", answer.Result.Message)
}

func TestAFaultOfTheLayersBelowIsNobodysOfAVectorSidecar(t *testing.T) {
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

func TestAClashIsOneWithYoungerAndOlderAlike(t *testing.T) {
	w := newWorld(t)
	w.workloads = []*workload.Record{workload.RecordOf(objects.NewDeployment("cart", "shop").Labelled("logs", "vector").Build())}
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
		require.Contains(t, answer.Result.Message, `Deployment shop/cart: VectorSidecar shop/`+name+` injects a container "vector", too`)
		require.True(t, asked(t, w, nil, before).Allowed, "another name does not clash")
		w.others[0].Spec.Enabled = new(bool)
		require.True(t, asked(t, w, before, after).Allowed, "one that is off takes nothing")
	}
}

func TestTheWorkOfARequestIsBounded(t *testing.T) {
	w := newWorld(t)
	w.others = []v1alpha1.VectorSidecar{*objects.NewVectorSidecar("other", "shop").Selecting("crowded", "yes").Build()}
	for n := range mostWorkloads + 1 {
		deployment := objects.NewDeployment(fmt.Sprintf("app-%03d", mostWorkloads-n), "shop").Labelled("logs", "vector")
		if n == 0 {
			deployment.Labelled("crowded", "yes")
		}
		w.workloads = append(w.workloads, workload.RecordOf(deployment.Build()))
	}

	require.True(t, asked(t, w, nil, logs().Build()).Allowed, "the clash is in the last by name")
	w.workloads = w.workloads[:mostWorkloads]
	require.False(t, asked(t, w, nil, logs().Build()).Allowed)
}

func TestSomeRequestsAreWorkedOnAtOnce(t *testing.T) {
	w := newWorld(t)
	w.held = make(chan struct{})
	handler, request := New(w, nil), admission.Request{}
	request.Operation = admissionv1.Create
	request.Object.Raw = []byte(`{"metadata": {"name": "logs", "namespace": "shop"}, "spec": {"selector": {"matchLabels": {"a": "b"}}}}`)
	var asking sync.WaitGroup
	for range mostAtOnce {
		asking.Go(func() { handler.Handle(t.Context(), request) })
	}
	require.Eventually(t, func() bool { return w.asked.Load() == mostAtOnce }, time.Minute, time.Millisecond)

	impatient, cancel := context.WithCancel(t.Context())
	cancel()
	answer := handler.Handle(impatient, request)
	require.False(t, answer.Allowed, "there is no room, and it waits no longer")
	require.EqualValues(t, mostAtOnce, w.asked.Load())
	close(w.held)
	asking.Wait()
	require.True(t, handler.Handle(t.Context(), request).Allowed)
}

func TestAnAnswerIsBounded(t *testing.T) {
	j := judgement{}
	for n := range 15 {
		j.faults = append(j.faults, fmt.Sprintf("fault %d", n))
		j.doubts = append(j.doubts, fmt.Sprintf("doubt\n  %d", n), "one that is told once")
	}
	answer := j.answer()

	require.Contains(t, answer.Result.Message, "fault 9\nand 5 more")
	require.Len(t, answer.Warnings, mostLines+1)
	require.Equal(t, "doubt 0", answer.Warnings[0])
}
