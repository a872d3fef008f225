// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the reconcile loop. For one VectorSidecar at a time it takes a snapshot of
// the cluster, has it evaluated, applies the decision, and writes status and events. It makes no
// decisions itself.
package controller

import (
	"context"
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	runtimemetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/fairqueue"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Setup adds the Reconciler, its indexes and its watches to a manager. The manager's cache must
// hold what Workloads makes of each workload, ConfigMaps as Digested leaves them, and
// VectorSidecars as Bounded does.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) (*Reconciler, error) {
	events := newAnnouncer(mgr.GetEventRecorder(meta.Operator), mgr.GetScheme())
	if err := mgr.Add(events); err != nil {
		return nil, fmt.Errorf("adding the event sender: %w", err)
	}
	r := newReconciler(mgr.GetClient(), options.Pager.Client(mgr.GetAPIReader()), events, &options)
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, fmt.Errorf("adding indexes: %w", err)
	}
	if len(options.WatchNamespaces) > 0 {
		if err := mgr.Add(r.snapshots.namespaces); err != nil {
			return nil, fmt.Errorf("adding the polling of namespaces: %w", err)
		}
	}
	if err := r.periodic.add(ctx, mgr, &options); err != nil {
		return nil, err
	}
	options.Instruments.Metrics.Sets(1, 0) // The built-in one, until there is a look at others.
	r.stages.countNone()
	// Asking for the informers now makes the operator ready only once the workloads are in the
	// cache, too.
	for _, kind := range options.Workloads.Kinds() {
		if kind.Traits.MayLack {
			options.Workloads.Lose(kind) // Until it is found.
			continue
		}
		if _, err := mgr.GetCache().GetInformer(ctx, kind.Watched(), cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
		}
	}
	queueMetrics, err := telemetry.NewQueueMetrics(runtimemetrics.Registry)
	if err != nil {
		return nil, fmt.Errorf("registering the metrics of the queue: %w", err)
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.VectorSidecar{}, ownChanges()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			// The check is for two controllers of one name in a process; tests run one operator
			// after another.
			SkipNameValidation: ptr.To(true),
			RateLimiter:        newRetries(),
			NewQueue: func(name string, retries workqueue.TypedRateLimiter[reconcile.Request]) queue {
				return fairqueue.New(fairqueue.Options[reconcile.Request]{
					Workers: options.Concurrency, ShareFor: shareFor, RateLimiter: retries, Metrics: queueMetrics.ForQueue(name),
				})
			},
			// Standby replicas sync caches before they are elected.
			EnableWarmup:          ptr.To(true),
			ReconciliationTimeout: passTimeout,
		}).
		WithLogConstructor(loggerOf(mgr.GetLogger()))
	if options.ValidationJobs {
		builder = builder.Owns(&batchv1.Job{})
	}
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return nil, fmt.Errorf("creating a discovery client: %w", err)
	}
	watching := &watches{
		sidecars: r.snapshots.sidecars, workloads: r.snapshots.workloads, namespaces: r.snapshots.namespaces, catalog: r.snapshots.catalog,
		memory: r.memory, resyncs: r.periodic.resyncs, pace: r.stages.pace, leftovers: r.periodic.leftovers, clusters: r.clusters, sets: r.applier.sets,
		apis: apis, kinds: &workloadWatch{
			cache: mgr.GetCache(), workloads: r.snapshots.workloads, awaits: r.memory.IsAwaited, uses: r.applier.uses, now: r.clock, metrics: options.Instruments.Metrics,
		},
	}
	if err := watching.add(builder).Complete(r); err != nil {
		return nil, err
	}
	return r, nil
}

// Alive returns an error while a pass is stuck.
func (r *Reconciler) Alive() error { return r.liveness.check(r.now()) }
