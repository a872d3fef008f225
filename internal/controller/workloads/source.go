// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package workloads watches workloads. The input is the events of informers and the APIs that the cluster serves; the output
// is the workload cache, and the reconciles of VectorSidecars that depend on a changed workload.
package workloads

import (
	"context"
	"errors"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	toolscache "k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Options are the dependencies of a Source. All fields are required.
type Options struct {
	// Cache has the informers.
	Cache     cache.Cache
	Workloads *workloadcache.Cache
	Sidecars  *sidecarcache.Lister
	Memory    *state.Memory
	Uses      *companionuse.Tracker
	// APIs returns the APIs of the cluster.
	APIs discovery.ServerResourcesInterface
	// Dependents returns the VectorSidecars that depend on a workload with these states: before and after a change.
	Dependents func(ctx context.Context, states ...*workloadcache.Record) []types.NamespacedName
	// Notifier wakes the reconciles of VectorSidecars.
	Notifier *notify.Notifier
	Metrics  *telemetry.Metrics
	Clock    func() time.Time
}

// Source is the source of workload events. It is necessary because the informers store records instead of workloads, which
// controller-runtime's source for objects does not accept. It updates the workload cache and requests reconciles only for
// changes that planning depends on, because most updates change the status of a workload only. It watches the kinds of
// optional APIs while the cluster serves them.
type Source struct {
	Options

	// synced has a function for each kind that reports whether the event handler has received every workload of the
	// initial list.
	synced []toolscache.InformerSynced
	// started receives the error of followAPIs, or nil.
	started chan error
}

// New returns a Source that is not started.
func New(options Options) *Source { return &Source{Options: options} }

// Start starts the watches. The controller calls it once.
func (s *Source) Start(ctx context.Context, _ workqueue.TypedRateLimitingInterface[reconcile.Request]) error {
	s.started = make(chan error, 1)
	go func() { s.started <- s.followAPIs(ctx) }()
	return nil
}

// followAPIs adds the event handlers to the informers, and watches the kinds of optional APIs while the cluster
// serves them. It runs in its own goroutine, because its requests to the API server must not delay the start of other
// sources.
func (s *Source) followAPIs(ctx context.Context) error {
	for _, kind := range s.Workloads.Kinds() {
		if kind.Traits.OptionalAPI {
			synced, err := s.detectAPI(ctx, kind)
			if err != nil {
				return err
			}
			if synced != nil {
				s.synced = append(s.synced, synced)
			}
			continue
		}
		synced, err := s.watchKind(ctx, kind)
		if err != nil {
			return err
		}
		s.synced = append(s.synced, synced)
	}
	return nil
}

// WaitForSync waits until the workload cache has every workload. The error means that the context has ended before,
// or that the watches could not be started.
func (s *Source) WaitForSync(ctx context.Context) error {
	select {
	case err := <-s.started:
		if err != nil {
			return err
		}
	case <-ctx.Done():
		return errors.New("the workload cache has not synced yet")
	}
	if !toolscache.WaitForCacheSync(ctx.Done(), s.synced...) {
		return errors.New("the workload cache has not synced yet")
	}
	s.Workloads.SetSynced()
	return nil
}

// String returns the name of the source for messages.
func (s *Source) String() string { return "workloads" }

// notify requests the reconciles of the VectorSidecars that depend on a workload in one of the states: before and
// after a change.
func (s *Source) notify(ctx context.Context, states ...*workloadcache.Record) {
	s.Notifier.Notify(s.Dependents(ctx, states...)...)
}
