// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// enqueuer enqueues the VectorSidecars that depend on a workload with the given states.
type enqueuer func(states ...*workloadcache.Record)

// workloadWatch watches workload kinds. The informers store records instead of workloads, which controller-runtime's
// source for objects does not accept. It updates the workload cache and forwards only changes that planning depends on.
// Most updates of a workload change its status only and are not forwarded.
type workloadWatch struct {
	cache     cache.Cache
	workloads *workloadcache.Cache
	// awaits reports whether every change of a workload matters.
	awaits  func(types.UID) bool
	uses    *companionuse.Tracker
	now     func() time.Time
	metrics *telemetry.Metrics
}

// start starts the watch of a kind. It does not wait until the workloads of the kind are listed.
func (w *workloadWatch) start(ctx context.Context, kind *workload.Kind, enqueue enqueuer) (toolscache.InformerSynced, error) {
	informer, err := w.cache.GetInformer(ctx, kind.NewWatchObject(), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
	}
	registration, err := informer.AddEventHandler(w.countObjects(kind, w.handler(enqueue)))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
	}
	return registration.HasSynced, nil
}

// countObjects counts the objects of a kind in its informer.
func (w *workloadWatch) countObjects(kind *workload.Kind, handler toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			w.metrics.AddCachedObjects(kind.Kind, 1)
			// For a kind with an optional API, the workloads of the initial list are new.
			handler.OnAdd(object, isInitial && !kind.Traits.OptionalAPI)
		},
		UpdateFunc: handler.OnUpdate,
		DeleteFunc: func(object any) {
			w.metrics.AddCachedObjects(kind.Kind, -1)
			handler.OnDelete(object)
		},
	}
}

// handler updates the cache and forwards the changes that planning depends on.
func (w *workloadWatch) handler(enqueue enqueuer) toolscache.ResourceEventHandler {
	enqueueAny := func(states []*workloadcache.Record) {
		if len(states) > 0 {
			enqueue(states...)
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			if record := toRecord(object); record != nil {
				w.uses.Observe(nil, record)
				affected := w.workloads.Put(record)
				// At startup, every VectorSidecar is reconciled.
				if !isInitial {
					enqueue(record)
					enqueueAny(affected)
				}
			}
		},
		UpdateFunc: func(oldObject, newObject any) {
			old, record := toRecord(oldObject), toRecord(newObject)
			if record == nil {
				return
			}
			if old != nil {
				record.CarryOver(old, w.now())
			}
			w.uses.Observe(old, record)
			if affected := w.workloads.Put(record); len(affected) > 0 && !isEquivalent(affected) {
				enqueueAny(affected)
			}
			if isSame := old != nil && record.EquivalentTo(old); isSame && !w.awaits(record.UID) {
				return
			}
			if old != nil {
				enqueue(old, record)
				return
			}
			enqueue(record)
		},
		DeleteFunc: func(object any) {
			if record := toRecord(object); record != nil {
				w.uses.Observe(record, nil)
				affected := w.workloads.Delete(record)
				enqueue(record)
				enqueueAny(affected)
			}
		},
	}
}

// isEquivalent reports whether the records of each pair are equivalent for planning.
func isEquivalent(pairs []*workloadcache.Record) bool {
	for pair := range slices.Chunk(pairs, 2) {
		if !pair[0].EquivalentTo(pair[1]) || pair[0].Runner() == nil != (pair[1].Runner() == nil) {
			return false
		}
	}
	return true
}

// toRecord returns the record of an event. The event may be a deletion that the watch missed.
func toRecord(object any) *workloadcache.Record {
	if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	record, _ := object.(*workloadcache.Record)
	return record
}
