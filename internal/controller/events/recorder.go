// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package events sends Kubernetes events. The input is events of all controllers; the output is requests at a limited
// rate, in which namespaces take turns.
package events

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
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Events are sent one at a time, and more slowly while workloads are written, so that they do not delay the writes of
// a fan-out or the requests of other clients.
const (
	// eventsAtOnce is the number of events that are sent without a delay while workloads are not written.
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

// Recorder queues events and sends them at a limited rate through another recorder. A queued event keeps only the name
// of an object, not the object.
type Recorder struct {
	sender events.EventRecorder
	scheme *runtime.Scheme
	// namespaces is the cache of Namespaces, or nil for none. Events in a deleted namespace are dropped, because the
	// API server rejects them and client-go logs each rejection as an error.
	namespaces client.Reader
	metrics    *telemetry.Metrics
	waiting    *eventQueue
	pace       *rate.Limiter
}

// New returns a Recorder that sends through sender after Start. The scheme has the kinds of all objects of events.
func New(sender events.EventRecorder, scheme *runtime.Scheme, namespaces client.Reader, metrics *telemetry.Metrics) *Recorder {
	return &Recorder{sender: sender, scheme: scheme, namespaces: namespaces, metrics: metrics, waiting: newEventQueue(eventsWaiting), pace: rate.NewLimiter(eventsASecond, eventsAtOnce)}
}

// RecordWrite records that a workload was written now, so that events are sent more slowly.
func (r *Recorder) RecordWrite() {
	r.waiting.setWritten(time.Now())
}

// adjustRate sets the rate limit for the next event: the lower one if a workload was written within stillness.
func (r *Recorder) adjustRate() {
	limit, burst := rate.Limit(eventsASecond), eventsAtOnce
	if time.Since(r.waiting.lastWritten()) < stillness {
		limit, burst = eventsBetween, 1
	}
	r.pace.SetLimit(limit)
	r.pace.SetBurst(burst)
}

// Eventf queues an event on the regarding object. See events.EventRecorder for the parameters. If the queue is full,
// an event is dropped and counted.
func (r *Recorder) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	share, namespace := eventShare(regarding), ""
	regarding, related = r.toReference(regarding), r.toReference(related)
	if object, ok := regarding.(client.Object); ok {
		namespace = object.GetNamespace()
	}
	isFull := r.waiting.addEvent(share, func(ctx context.Context) {
		if !r.isDeleted(ctx, namespace) {
			r.sender.Eventf(regarding, related, kind, reason, action, note, args...)
		}
	})
	if isFull {
		r.metrics.RecordDroppedEvent()
	}
}

// eventShare returns the name of the share that an event on an object belongs to: the namespace of the object or, for
// a cluster-scoped object, "/" and its name. An event of a ClusterVectorSidecar in a namespace belongs to the
// namespace.
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

// toReference returns a copy of an object with only its kind, namespace, name, UID and resource version, or nil for
// nil.
func (r *Recorder) toReference(object runtime.Object) runtime.Object {
	object = clusterwide.ResolveCluster(object)
	clientObject, ok := object.(client.Object)
	if !ok {
		return object
	}
	kind, err := apiutil.GVKForObject(clientObject, r.scheme)
	if err != nil {
		return object // The recorder reports the error.
	}
	name := &metav1.PartialObjectMetadata{}
	name.SetGroupVersionKind(kind)
	name.Namespace, name.Name, name.UID, name.ResourceVersion = clientObject.GetNamespace(), clientObject.GetName(), clientObject.GetUID(), clientObject.GetResourceVersion()
	return name
}

// Start sends events until the context ends, and then the events that are still queued.
func (r *Recorder) Start(ctx context.Context) error {
	for send := r.waiting.takeEvent(ctx); send != nil; send = r.waiting.takeEvent(ctx) {
		r.adjustRate()
		_ = r.pace.Wait(ctx) // The only error is the context's error. Later events do not wait.
		send(ctx)
	}
	return nil
}

// isDeleted reports whether a namespace does not exist or is being deleted. It returns false for the empty name, and
// without a cache of Namespaces.
func (r *Recorder) isDeleted(ctx context.Context, name string) bool {
	if name == "" || r.namespaces == nil {
		return false
	}
	namespace := clusterwide.NewNamespaceMetadata("")
	err := r.namespaces.Get(ctx, client.ObjectKey{Name: name}, namespace)
	return apierrors.IsNotFound(err) || namespace.DeletionTimestamp != nil
}

// NoteLimit is the maximum length of an event's note in bytes. The API allows 1,024.
const NoteLimit = 1000

// Reference returns a workload reduced to its kind, namespace, name and UID, for an event.
func Reference(target workload.Ref) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(target.Adapter().GroupVersionKind)
	object.Namespace, object.Name, object.UID = target.Namespace, target.Name, target.UID
	return object
}
