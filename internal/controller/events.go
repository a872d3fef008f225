// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Events are sent one after the other, and give way to writes: those of a fan-out do
// not take the API server from it, nor from everybody else.
const (
	eventsAtOnce = 20
	// eventsASecond is how many are sent while nothing is written, and
	// eventsBetween while workloads are.
	eventsASecond, eventsBetween = 50, 5
	// stillness is for how long nothing has been written when nothing is.
	stillness = 500 * time.Millisecond
	// eventsWaiting is how many may wait. What comes on top of them is left out:
	// the event on the VectorSidecar counts all.
	eventsWaiting = 1000
)

// announcer sends events at a pace. It makes no other use of the recorder than to
// hand them on. What waits holds no more of an object than its name.
type announcer struct {
	events.EventRecorder
	scheme  *runtime.Scheme
	waiting chan func()
	pace    *rate.Limiter
	written atomic.Pointer[time.Time]
}

func newAnnouncer(recorder events.EventRecorder, scheme *runtime.Scheme) *announcer {
	return &announcer{EventRecorder: recorder, scheme: scheme, waiting: make(chan func(), eventsWaiting), pace: rate.NewLimiter(eventsASecond, eventsAtOnce)}
}

// wrote notes that a workload was written.
func (a *announcer) wrote() {
	now := time.Now()
	a.written.Store(&now)
}

// limit is how many events a second may be sent now.
func (a *announcer) limit() rate.Limit {
	if last := a.written.Load(); last != nil && time.Since(*last) < stillness {
		return eventsBetween
	}
	return eventsASecond
}

// Eventf notes an event, to be sent.
func (a *announcer) Eventf(regarding, related runtime.Object, kind, reason, action, note string, args ...any) {
	regarding, related = a.named(regarding), a.named(related)
	select {
	case a.waiting <- func() { a.EventRecorder.Eventf(regarding, related, kind, reason, action, note, args...) }:
	default:
	}
}

// named is as much of an object as an event needs; of nothing it is nothing.
func (a *announcer) named(object runtime.Object) runtime.Object {
	whole, ok := object.(client.Object)
	if !ok {
		return object
	}
	kind, err := apiutil.GVKForObject(whole, a.scheme)
	if err != nil {
		return object // The recorder says so.
	}
	name := &metav1.PartialObjectMetadata{}
	name.SetGroupVersionKind(kind)
	name.Namespace, name.Name, name.UID, name.ResourceVersion = whole.GetNamespace(), whole.GetName(), whole.GetUID(), whole.GetResourceVersion()
	return name
}

// Start sends the events until the context ends, and then those that still wait.
func (a *announcer) Start(ctx context.Context) error {
	for ctx.Err() == nil {
		select {
		case send := <-a.waiting:
			a.pace.SetLimit(a.limit())
			_ = a.pace.Wait(ctx) // Its only error is that of the context.
			send()
		case <-ctx.Done():
		}
	}
	for {
		select {
		case send := <-a.waiting:
			send()
		default:
			return nil
		}
	}
}

const (
	// noteLimit is how many bytes of a note an event gets, which may hold 1024.
	noteLimit = 1000
	// mostNames is how many Deployments are named in a line.
	mostNames = 10
)

// reference is as much of a workload as an event needs.
func reference(target workload.Ref) *metav1.PartialObjectMetadata {
	object := &metav1.PartialObjectMetadata{}
	object.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: target.Kind})
	object.Namespace, object.Name, object.UID = target.Namespace, target.Name, target.UID
	return object
}
