// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	ctrlsource "sigs.k8s.io/controller-runtime/pkg/source"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// resyncs triggers passes that no event asks for and that use nothing rendered or evaluated before,
// so that a wrong memory does not last. What was written and what was refused stays known, because
// it still holds in the cluster.
type resyncs struct {
	passes chan event.TypedGenericEvent[types.NamespacedName]
}

func newResyncs() *resyncs {
	return &resyncs{passes: make(chan event.TypedGenericEvent[types.NamespacedName])}
}

// source adds these passes to the queue, after those that an event asks for.
func (r *resyncs) source() ctrlsource.Source {
	return ctrlsource.Channel(r.passes, handler.TypedFuncs[types.NamespacedName, reconcile.Request]{
		GenericFunc: func(_ context.Context, e event.TypedGenericEvent[types.NamespacedName], q queue) {
			request := reconcile.Request{NamespacedName: e.Object}
			if byPriority, ok := q.(priorityqueue.PriorityQueue[reconcile.Request]); ok {
				byPriority.AddWithOpts(priorityqueue.AddOpts{Priority: ptr.To(handler.LowPriority)}, request)
				return
			}
			q.Add(request)
		},
	})
}

// ask requests a pass.
func (r *resyncs) ask(ctx context.Context, name types.NamespacedName) {
	select {
	case r.passes <- event.TypedGenericEvent[types.NamespacedName]{Object: name}:
	case <-ctx.Done():
	}
}

// askAll requests a pass for every VectorSidecar, on the leader: others begin with one.
func (r *resyncs) askAll(ctx context.Context, elected <-chan struct{}, sidecars sidecarLister) {
	select {
	case <-elected:
	default:
		return
	}
	for _, name := range keysOf(sidecars.list(ctx, "")) {
		r.ask(ctx, name)
	}
}

// rejudger periodically requests a pass without memory for every VectorSidecar. It runs on the
// leader only.
type rejudger struct {
	sidecars sidecarLister
	memory   *state.Memory
	resyncs  *resyncs
	interval time.Duration
}

// Start requests passes until the context ends.
func (r rejudger) Start(ctx context.Context) error {
	poll(ctx, r.interval, func(ctx context.Context) {
		for _, name := range keysOf(r.sidecars.list(ctx, "")) {
			r.memory.Of(name).ResyncNext()
			r.resyncs.ask(ctx, name)
		}
	})
	return nil
}

// longestAsking is the maximum length of the annotation's value that is used, because the status
// repeats it.
const longestAsking = 128

// askingOf returns the value of the annotation that requests a pass without memory, "" if there is
// none.
func askingOf(sidecar client.Object) string {
	text := sidecar.GetAnnotations()[meta.AnnotationReconcileAt]
	return strings.ToValidUTF8(text[:min(len(text), longestAsking)], "")
}

// asksAnew passes events of VectorSidecars whose annotation requests a pass without memory.
func asksAnew() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return askingOf(e.ObjectOld) != askingOf(e.ObjectNew) }}
}
