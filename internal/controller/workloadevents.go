// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// workloadEvents is the source of workload events. The informers hold records instead of workloads,
// which controller-runtime's source for objects would not take. It keeps the workload cache in sync
// and passes on only changes that planning depends on: most updates of a workload change its status
// alone, and end here.
type workloadEvents struct {
	cache     cache.Cache
	workloads *workloadcache.Cache
	// concerns returns the VectorSidecars that a change of a workload concerns, given its known
	// states.
	concerns func(ctx context.Context, states ...*workloadcache.Record) []reconcile.Request
	// awaits reports whether any change of a workload is awaited.
	awaits func(types.UID) bool
	now    func() time.Time

	// synced reports, for each kind, whether the handler has received every workload of the initial
	// list.
	synced  []toolscache.InformerSynced
	started chan error
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Start implements Source. The controller calls it once.
func (w *workloadEvents) Start(ctx context.Context, queue queue) error {
	w.started = make(chan error, 1)
	go func() { w.started <- w.follow(ctx, queue) }()
	return nil
}

// follow adds the event handlers to the informers. It waits for their sync, and so must not hold up
// the start of other sources.
func (w *workloadEvents) follow(ctx context.Context, queue queue) error {
	enqueue := func(states ...*workloadcache.Record) {
		for _, request := range w.concerns(ctx, states...) {
			queue.Add(request)
		}
	}
	for _, kind := range w.workloads.Kinds() {
		informer, err := w.cache.GetInformer(ctx, kind.Watched())
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Plural, err)
		}
		registration, err := informer.AddEventHandler(w.handler(enqueue))
		if err != nil {
			return fmt.Errorf("watching %s: %w", kind.Plural, err)
		}
		w.synced = append(w.synced, registration.HasSynced)
	}
	return nil
}

// handler keeps the cache in sync and passes on changes that planning depends on.
func (w *workloadEvents) handler(enqueue func(states ...*workloadcache.Record)) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			if record := recordOf(object); record != nil {
				w.workloads.Put(record)
				// At startup every VectorSidecar is reconciled anyway.
				if !isInitial {
					enqueue(record)
				}
			}
		},
		UpdateFunc: func(before, after any) {
			old, record := recordOf(before), recordOf(after)
			if record == nil {
				return
			}
			if old != nil {
				record.Follow(old, w.now())
			}
			w.workloads.Put(record)
			if looksTheSame := old != nil && record.LooksLike(old); looksTheSame && !w.awaits(record.UID) {
				return
			}
			if old != nil {
				enqueue(old, record)
				return
			}
			enqueue(record)
		},
		DeleteFunc: func(object any) {
			if record := recordOf(object); record != nil {
				w.workloads.Delete(record)
				enqueue(record)
			}
		},
	}
}

// WaitForSync returns once the workload cache holds every workload.
func (w *workloadEvents) WaitForSync(ctx context.Context) error {
	select {
	case err := <-w.started:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return errors.New("the workload cache has not synced yet")
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), w.synced...) {
		return errors.New("the workload cache has not synced yet")
	}
	w.workloads.SetSynced()
	return nil
}

// String returns the name of the source for messages.
func (w *workloadEvents) String() string { return "workloads" }

// recordOf returns the record of an event, also of a deletion that the watch missed.
func recordOf(object any) *workloadcache.Record {
	if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	record, _ := object.(*workloadcache.Record)
	return record
}
