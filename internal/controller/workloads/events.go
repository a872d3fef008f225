// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workloads

import (
	"context"
	"fmt"
	"slices"

	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// watchKind starts the watch of a kind, and returns before the workloads of the kind are listed. The returned
// function reports whether they are.
func (s *Source) watchKind(ctx context.Context, kind *workload.Kind) (toolscache.InformerSynced, error) {
	informer, err := s.Cache.GetInformer(ctx, kind.NewWatchObject(), cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
	}
	registration, err := informer.AddEventHandler(s.countObjects(kind, s.newHandler(ctx)))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
	}
	return registration.HasSynced, nil
}

// countObjects returns a handler that also counts the objects of a kind in its informer.
func (s *Source) countObjects(kind *workload.Kind, handler toolscache.ResourceEventHandler) toolscache.ResourceEventHandler {
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			s.Metrics.AddCachedObjects(kind.Kind, 1)
			// For a kind with an optional API, the workloads of the initial list are new.
			handler.OnAdd(object, isInitial && !kind.Traits.OptionalAPI)
		},
		UpdateFunc: handler.OnUpdate,
		DeleteFunc: func(object any) {
			s.Metrics.AddCachedObjects(kind.Kind, -1)
			handler.OnDelete(object)
		},
	}
}

// newHandler returns the handler that updates the cache and requests the reconciles of changes that planning depends on.
func (s *Source) newHandler(ctx context.Context) toolscache.ResourceEventHandler {
	notifyAny := func(states []*workloadcache.Record) {
		if len(states) > 0 {
			s.notify(ctx, states...)
		}
	}
	return toolscache.ResourceEventHandlerDetailedFuncs{
		AddFunc: func(object any, isInitial bool) {
			if record := toRecord(object); record != nil {
				s.Uses.RecordChange(nil, record)
				affected := s.Workloads.Put(record)
				// At startup, every VectorSidecar is reconciled.
				if !isInitial {
					s.notify(ctx, record)
					notifyAny(affected)
				}
			}
		},
		UpdateFunc: func(oldObject, newObject any) {
			old, record := toRecord(oldObject), toRecord(newObject)
			if record == nil {
				return
			}
			if old != nil {
				record.CarryOver(old, s.Clock())
			}
			s.Uses.RecordChange(old, record)
			if affected := s.Workloads.Put(record); len(affected) > 0 && !isEquivalent(affected) {
				notifyAny(affected)
			}
			if isSame := old != nil && record.EquivalentTo(old); isSame && !s.Memory.IsAwaited(record.UID) {
				return
			}
			if old != nil {
				s.notify(ctx, old, record)
				return
			}
			s.notify(ctx, record)
		},
		DeleteFunc: func(object any) {
			if record := toRecord(object); record != nil {
				s.Uses.RecordChange(record, nil)
				affected := s.Workloads.Delete(record)
				s.notify(ctx, record)
				notifyAny(affected)
			}
		},
	}
}

// isEquivalent reports whether the two records of each pair are equivalent for planning: the record before a change,
// and the record after it. pairs has the pairs one after the other.
func isEquivalent(pairs []*workloadcache.Record) bool {
	for pair := range slices.Chunk(pairs, 2) {
		if !pair[0].EquivalentTo(pair[1]) || pair[0].Runner() == nil != (pair[1].Runner() == nil) {
			return false
		}
	}
	return true
}

// toRecord returns the record in an event of an informer, or nil for another object. The event may be a deletion that
// the watch missed.
func toRecord(object any) *workloadcache.Record {
	if missed, ok := object.(toolscache.DeletedFinalStateUnknown); ok {
		object = missed.Obj
	}
	record, _ := object.(*workloadcache.Record)
	return record
}
