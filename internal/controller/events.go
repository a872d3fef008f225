// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"golang.org/x/time/rate"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Events are sent one at a time, and more slowly while workloads are written. So they do not delay the writes of a
// fan-out or the requests of other clients.
const (
	eventsAtOnce = 20
	// eventsASecond is the rate limit while workloads are not written. eventsBetween is the rate limit while
	// workloads are written, and then one event is sent at a time.
	eventsASecond, eventsBetween = 50, 5
	// stillness is the time from the last write until the higher rate applies.
	stillness = 500 * time.Millisecond
	// eventsWaiting is the maximum number of queued events. Further events are dropped, first the events of the
	// namespace with the most events. The event on the VectorSidecar has the count of all.
	eventsWaiting = 1000
)

// announcer sends events at a limited rate through the recorder. A queued event keeps only the name of an object, not
// the object.
type announcer struct {
	events.EventRecorder
	scheme *runtime.Scheme
	// isDeleted reports whether a namespace is deleted. Events in it are dropped: the API server rejects them, and client-go
	// logs each as an error.
	isDeleted func(ctx context.Context, namespace string) bool
	waiting   *eventQueue
	pace      *rate.Limiter
}

func newAnnouncer(recorder events.EventRecorder, scheme *runtime.Scheme, isDeleted func(ctx context.Context, namespace string) bool) *announcer {
	return &announcer{EventRecorder: recorder, scheme: scheme, isDeleted: isDeleted, waiting: newEventQueue(eventsWaiting), pace: rate.NewLimiter(eventsASecond, eventsAtOnce)}
}

// wrote records that a workload has been written.
func (a *announcer) wrote() {
	a.waiting.setWritten(time.Now())
}

// adjust sets the current rate limit.
func (a *announcer) adjust() {
	limit, burst := rate.Limit(eventsASecond), eventsAtOnce
	if time.Since(a.waiting.lastWritten()) < stillness {
		limit, burst = eventsBetween, 1
	}
	a.pace.SetLimit(limit)
	a.pace.SetBurst(burst)
}

// Eventf queues an event.
func (a *announcer) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	share, namespace := eventShare(regarding), ""
	regarding, related = a.named(regarding), a.named(related)
	if object, ok := regarding.(client.Object); ok {
		namespace = object.GetNamespace()
	}
	a.waiting.push(share, func(ctx context.Context) {
		if namespace == "" || !a.isDeleted(ctx, namespace) {
			a.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...)
		}
	})
}

// eventShare returns the share that an event counts for: the namespace of the object or, for a cluster-scoped object, the
// object. An event of a ClusterVectorSidecar in a namespace counts for the namespace.
func eventShare(object runtime.Object) string {
	regarding, ok := object.(client.Object)
	if !ok {
		return ""
	}
	if regarding.GetNamespace() == "" {
		return "/" + regarding.GetName()
	}
	return regarding.GetNamespace()
}

// named returns an object reduced to the fields that an event needs, nil for nil.
func (a *announcer) named(object runtime.Object) runtime.Object {
	object = clusterwide.ResolveCluster(object)
	clientObject, ok := object.(client.Object)
	if !ok {
		return object
	}
	kind, err := apiutil.GVKForObject(clientObject, a.scheme)
	if err != nil {
		return object // The recorder reports the error.
	}
	name := &metav1.PartialObjectMetadata{}
	name.SetGroupVersionKind(kind)
	name.Namespace, name.Name, name.UID, name.ResourceVersion = clientObject.GetNamespace(), clientObject.GetName(), clientObject.GetUID(), clientObject.GetResourceVersion()
	return name
}

// Start sends events until the context ends, and then the events that are still queued.
func (a *announcer) Start(ctx context.Context) error {
	for send := a.waiting.pop(ctx); send != nil; send = a.waiting.pop(ctx) {
		a.adjust()
		_ = a.pace.Wait(ctx) // The only error is the context's error. Later events do not wait.
		send(ctx)
	}
	return nil
}

// isNamespaceDeleted returns a function that reports whether a namespace does not exist or is being deleted.
func isNamespaceDeleted(namespaces client.Reader) func(ctx context.Context, name string) bool {
	return func(ctx context.Context, name string) bool {
		namespace := newNamespace("")
		err := namespaces.Get(ctx, client.ObjectKey{Name: name}, namespace)
		return apierrors.IsNotFound(err) || namespace.DeletionTimestamp != nil
	}
}

const (
	// noteLimit is the maximum length of an event's note in bytes. The API allows 1,024.
	noteLimit = 1000
	// mostNames is the maximum number of workloads that one message names.
	mostNames = 10
)

// reference returns a workload reduced to the fields that an event needs.
func reference(target workload.Ref) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(target.Adapter().GroupVersionKind)
	object.Namespace, object.Name, object.UID = target.Namespace, target.Name, target.UID
	return object
}
