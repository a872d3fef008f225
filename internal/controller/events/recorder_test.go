// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package events

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/test/objects"
)

// While the operator writes workloads, it sends events slowly. The remaining events follow after the writes.
func TestRecorder_DelaysEventsDuringWrites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sent := events.NewFakeRecorder(2 * eventsWaiting)
		a := New(sent, scheme.Scheme, nil, telemetry.NewMetrics("1", time.Now))
		ctx, stop := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- a.Start(ctx) }()
		a.RecordWrite()
		for range 100 {
			a.Eventf(&corev1.Pod{}, nil, corev1.EventTypeNormal, "Injected", "Inject", "text")
		}

		synctest.Wait()
		require.Len(t, sent.Events, 1, "one is sent at once")
		for range 20 {
			time.Sleep(100 * time.Millisecond) //nolint:forbidigo // the clock is the test's own
			a.RecordWrite()
		}
		require.InDelta(t, 1+2*eventsBetween, len(sent.Events), 1, "after two seconds of writes")
		time.Sleep(stillness + 2*time.Second) //nolint:forbidigo // as above
		synctest.Wait()
		require.Len(t, sent.Events, 100, "when it is still they come")

		for range 2 * eventsWaiting {
			a.Eventf(&corev1.Pod{}, nil, corev1.EventTypeNormal, "Injected", "Inject", "text")
		}
		stop()
		require.NoError(t, <-ended)
		require.GreaterOrEqual(t, len(sent.Events), 100+eventsWaiting, "those that wait are sent in the end")
		require.Less(t, len(sent.Events), 100+2*eventsWaiting, "what is too much is left out")
	})
}

// The queue keeps only the names of the objects, because it may contain many events, and objects may be large.
func TestRecorder_QueuesOnlyObjectNames(t *testing.T) {
	a := New(events.NewFakeRecorder(1), scheme.Scheme, nil, telemetry.NewMetrics("1", time.Now))
	object := objects.NewConfigMap("config", "shop", "a", "large")
	object.UID, object.TypeMeta = "u", metav1.TypeMeta{}

	name, ok := a.toReference(object).(*metav1.PartialObjectMetadata)

	require.True(t, ok)
	require.Equal(t, "/v1, Kind=ConfigMap", name.GroupVersionKind().String())
	require.Equal(t, object.ObjectMeta, name.ObjectMeta)
	require.Nil(t, a.toReference(nil))
}

// Events in a namespace that is being deleted are dropped, because the API server rejects them.
func TestRecorder_DropsEventsOfDeletedNamespaces(t *testing.T) {
	existing := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}}
	deleted := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "deleting"}}
	deleted.SetFinalizers([]string{"kubernetes"})
	deleted.SetDeletionTimestamp(ptr.To(metav1.Now()))
	sent := events.NewFakeRecorder(10)
	a := New(sent, scheme.Scheme, fake.NewClientBuilder().WithObjects(existing, deleted).Build(), telemetry.NewMetrics("1", time.Now))

	for _, name := range []string{"shop", "deleting", "deleted", ""} {
		a.Eventf(pod(name), nil, corev1.EventTypeNormal, "Injected", "Inject", "namespace %q", name)
		a.waiting.takeEvent(t.Context())(t.Context())
	}

	close(sent.Events)
	var notes []string
	for event := range sent.Events {
		notes = append(notes, event)
	}
	require.Equal(t, []string{`Normal Injected namespace "shop"`, `Normal Injected namespace ""`}, notes)
}

// The object reference in an event has the API version of the workload, so that clients find the workload.
func TestReference_ContainsWorkloadAPIVersion(t *testing.T) {
	for kind, version := range map[string]string{
		"Deployment": "apps/v1", "StatefulSet": "apps/v1", "DaemonSet": "apps/v1", "CronJob": "batch/v1", "Rollout": "argoproj.io/v1alpha1",
	} {
		object := Reference(workload.Ref{Kind: kind, Namespace: "shop", Name: "cart", UID: "u"})
		require.Equal(t, version, object.APIVersion)
		require.Equal(t, kind, object.Kind)
		require.Equal(t, "u", string(object.UID))
	}
}

// The note of an event is escaped and shortened to 1024 bytes, because the API server rejects longer notes.
func TestNoteLimit_KeepsEventsWithinAPILimit(t *testing.T) {
	require.LessOrEqual(t, len(humanize.ShortenMessage(strings.Repeat("ä", 5000), NoteLimit)), 1024)
	require.Equal(t, "ä", humanize.ShortenMessage("ä", NoteLimit))
	require.Equal(t, "a\\x1b[2J\n| Ready: True", humanize.ShortenMessage("a\x1b[2J\nReady: True", NoteLimit))
	require.LessOrEqual(t, len(humanize.ShortenMessage(strings.Repeat("\x1b\n", 500), NoteLimit)), 1024)
}
