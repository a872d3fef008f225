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

// resyncs requests reconciles that no event requests and that do not use earlier renderings or evaluations, so that a
// wrong cached state does not last. The records of writes and rejections remain, because they still apply in the
// cluster.
type resyncs struct {
	passes chan event.TypedGenericEvent[types.NamespacedName]
}

func newResyncs() *resyncs {
	return &resyncs{passes: make(chan event.TypedGenericEvent[types.NamespacedName])}
}

// source adds these reconciles to the queue, after the reconciles that events request.
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

// ask requests a reconcile.
func (r *resyncs) ask(ctx context.Context, name types.NamespacedName) {
	select {
	case r.passes <- event.TypedGenericEvent[types.NamespacedName]{Object: name}:
	case <-ctx.Done():
	}
}

// askAll requests a reconcile of every VectorSidecar. It does so on the leader only, because another replica reconciles
// every VectorSidecar when it becomes the leader.
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

// rejudger periodically requests a reconcile of every VectorSidecar without earlier renderings or evaluations. It runs
// on the leader only.
type rejudger struct {
	sidecars sidecarLister
	memory   *state.Memory
	resyncs  *resyncs
	interval time.Duration
}

// Start requests reconciles until the context ends.
func (r rejudger) Start(ctx context.Context) error {
	poll(ctx, r.interval, func(ctx context.Context) {
		for _, name := range keysOf(r.sidecars.list(ctx, "")) {
			r.memory.Of(name).ResyncNext()
			r.resyncs.ask(ctx, name)
		}
	})
	return nil
}

// longestAsking is the maximum length of the annotation's value. The rest is ignored, because the status repeats the
// value.
const longestAsking = 128

// askingOf returns the value of the annotation that requests a reconcile without earlier results. It returns "" if the
// annotation is missing.
func askingOf(sidecar client.Object) string {
	text := sidecar.GetAnnotations()[meta.AnnotationReconcileAt]
	return strings.ToValidUTF8(text[:min(len(text), longestAsking)], "")
}

// asksAnew selects the events of VectorSidecars with a changed annotation that requests a reconcile without earlier
// results.
func asksAnew() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool { return askingOf(e.ObjectOld) != askingOf(e.ObjectNew) }}
}
