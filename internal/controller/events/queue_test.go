// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// Namespaces take turns. If the queue is full, the namespace with the most events loses one.
func TestEventQueue_SharesSpaceBetweenNamespaces(t *testing.T) {
	for name, test := range map[string]struct {
		pushed []string
		want   []string
	}{
		"empty":                               {nil, nil},
		"first come, first served":            {[]string{"a1", "a2", "a3"}, []string{"a1", "a2", "a3"}},
		"namespaces take turns":               {[]string{"a1", "a2", "a3", "b1"}, []string{"a1", "b1", "a2", "a3"}},
		"the largest drops its own":           {[]string{"a1", "a2", "a3", "b1", "a4", "a5"}, []string{"a1", "b1", "a2", "a3"}},
		"the largest drops for others":        {[]string{"a1", "a2", "a3", "a4", "b1", "c1"}, []string{"a1", "b1", "c1", "a2"}},
		"others get as much as the largest":   {[]string{"a1", "a2", "a3", "a4", "b1", "b2", "b3"}, []string{"a1", "b1", "a2", "b2"}},
		"of equal shares the new one is lost": {[]string{"a1", "b1", "c1", "d1", "e1", "a2"}, []string{"a1", "b1", "c1", "d1"}},
	} {
		t.Run(name, func(t *testing.T) {
			q := newEventQueue(4)
			var sent []string
			for _, event := range test.pushed {
				q.addEvent(event[:1], func(context.Context) { sent = append(sent, event) })
			}
			ended, end := context.WithCancel(t.Context())
			end()
			for send := q.takeEvent(ended); send != nil; send = q.takeEvent(ended) {
				send(t.Context())
			}
			require.Equal(t, test.want, sent)
			require.Empty(t, q.shares)
			require.Empty(t, q.turns)
		})
	}
}

// If one namespace has too many events, only its own events are dropped.
func TestRecorder_DropsEventsOfBusiestNamespace(t *testing.T) {
	sent := events.NewFakeRecorder(2 * eventsWaiting)
	metrics := telemetry.NewMetrics("1", time.Now)
	a := New(sent, scheme.Scheme, nil, metrics)
	for n := range 2 * eventsWaiting {
		a.Eventf(pod("tenant"), nil, corev1.EventTypeNormal, "Injected", "Inject", "tenant %d", n)
	}
	for n := range 10 {
		a.Eventf(pod("shop"), nil, corev1.EventTypeNormal, "Injected", "Inject", "shop %d", n)
	}
	for range 20 {
		a.waiting.takeEvent(t.Context())(t.Context())
	}
	for n := range 10 {
		require.Equal(t, fmt.Sprintf("Normal Injected tenant %d", n), <-sent.Events)
		require.Equal(t, fmt.Sprintf("Normal Injected shop %d", n), <-sent.Events)
	}
	require.Equal(t, eventsWaiting-20, a.waiting.size)
	require.NoError(t, testutil.CollectAndCompare(metrics, strings.NewReader(`
# HELP vectorsidecar_events_dropped_total Kubernetes events that the operator dropped because 1,000 events were waiting. The namespace with the most waiting events loses its events first.
# TYPE vectorsidecar_events_dropped_total counter
vectorsidecar_events_dropped_total 1010
`), "vectorsidecar_events_dropped_total"))
}

func pod(namespace string) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "cart"}}
}

// The event queue shares its space between namespaces. Events about a ClusterVectorSidecar have a share of their own.
func TestEventShare_ReturnsNamespaceOfObject(t *testing.T) {
	cluster := &v1alpha1.ClusterVectorSidecar{ObjectMeta: metav1.ObjectMeta{Name: "logs"}}
	for name, test := range map[string]struct {
		object runtime.Object
		want   string
	}{
		"pod":                               {pod("shop"), "shop"},
		"VectorSidecar":                     {objects.NewVectorSidecar("logs", "shop").Build(), "shop"},
		"ClusterVectorSidecar in namespace": {clusterwide.NewSidecar(cluster, "shop", true), "shop"},
		"ClusterVectorSidecar":              {cluster, "/logs"},
		"something without a name":          {&v1alpha1.VectorSidecarList{}, ""},
	} {
		require.Equal(t, test.want, eventShare(test.object), name)
	}
}
