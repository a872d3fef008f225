// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
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
	// listing returns the VectorSidecars that list a kind.
	listing func(ctx context.Context, kind *workload.Kind) []reconcile.Request
	// awaits reports whether any change of a workload is awaited.
	awaits func(types.UID) bool
	now    func() time.Time
	// apis says which APIs the cluster has.
	apis    discovery.ServerResourcesInterface
	metrics *telemetry.Metrics

	// synced reports, for each kind, whether the handler has received every workload of the initial
	// list.
	synced  []toolscache.InformerSynced
	started chan error
}

// enqueuer has the VectorSidecars reconciled that a change of a workload concerns, given its states.
type enqueuer func(states ...*workloadcache.Record)

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

// Start implements Source. The controller calls it once.
func (w *workloadEvents) Start(ctx context.Context, queue queue) error {
	w.started = make(chan error, 1)
	go func() { w.started <- w.follow(ctx, queue) }()
	return nil
}

// follow adds the event handlers to the informers. It asks the API server, and so must not hold up
// the start of other sources.
func (w *workloadEvents) follow(ctx context.Context, queue queue) error {
	enqueue := func(states ...*workloadcache.Record) {
		for _, request := range w.concerns(ctx, states...) {
			queue.Add(request)
		}
	}
	for _, kind := range w.workloads.Kinds() {
		if kind.Traits.MayLack {
			if err := w.seek(ctx, kind, queue, enqueue); err != nil {
				return err
			}
			continue
		}
		synced, err := w.watch(ctx, kind, enqueue)
		if err != nil {
			return err
		}
		w.synced = append(w.synced, synced)
	}
	return nil
}

// watch starts the watch of a kind. It does not wait until its workloads are listed.
func (w *workloadEvents) watch(ctx context.Context, kind *workload.Kind, enqueue enqueuer) (toolscache.InformerSynced, error) {
	informer, err := w.cache.GetInformer(ctx, kind.Watched(), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
	}
	registration, err := informer.AddEventHandler(w.counted(kind, w.handler(enqueue)))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
	}
	return registration.HasSynced, nil
}

// counted counts the objects of a kind that its informer holds.
func (w *workloadEvents) counted(kind *workload.Kind, handler toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			w.metrics.Cached(kind.Kind, 1)
			// The initial list of a kind that came later is news.
			handler.OnAdd(object, isInitial && !kind.Traits.MayLack)
		},
		UpdateFunc: handler.OnUpdate,
		DeleteFunc: func(object any) {
			w.metrics.Cached(kind.Kind, -1)
			handler.OnDelete(object)
		},
	}
}

// handler keeps the cache in sync and passes on changes that planning depends on.
func (w *workloadEvents) handler(enqueue enqueuer) toolscache.ResourceEventHandler {
	enqueueAny := func(states []*workloadcache.Record) {
		if len(states) > 0 {
			enqueue(states...)
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			if record := recordOf(object); record != nil {
				others := w.workloads.Put(record)
				// At startup every VectorSidecar is reconciled anyway.
				if !isInitial {
					enqueue(record)
					enqueueAny(others)
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
			if others := w.workloads.Put(record); len(others) > 0 && !looksTheSame(others) {
				enqueueAny(others)
			}
			if isSame := old != nil && record.LooksLike(old); isSame && !w.awaits(record.UID) {
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
				others := w.workloads.Delete(record)
				enqueue(record)
				enqueueAny(others)
			}
		},
	}
}

// looksTheSame reports whether planning sees the same in pairs of records.
func looksTheSame(pairs []*workloadcache.Record) bool {
	for pair := range slices.Chunk(pairs, 2) {
		if !pair[0].LooksLike(pair[1]) || pair[0].Runner() == nil != (pair[1].Runner() == nil) {
			return false
		}
	}
	return true
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
