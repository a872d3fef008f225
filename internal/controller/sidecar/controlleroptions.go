// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"time"

	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	runtimemetrics "sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/fairqueue"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// passTimeout is the time for which a reconcile may start new writes. The next reconcile makes the remaining writes.
const passTimeout = 2 * time.Minute

// addInformers starts the informers of all kinds of workloads, so that the operator becomes ready only when the
// workloads are in the cache, too.
func addInformers(ctx context.Context, informers cache.Cache, workloads *workloadcache.Cache) error {
	for _, kind := range workloads.Kinds() {
		if kind.Traits.OptionalAPI {
			workloads.RemoveKind(kind) // The kind is added again when its API is found.
			continue
		}
		if _, err := informers.GetInformer(ctx, kind.NewWatchObject(), cache.BlockUntilSynced(false)); err != nil {
			return fmt.Errorf("watching %s: %w", kind.Plural, err)
		}
	}
	return nil
}

// controllerOptions returns the options of the controller, with a queue that serves namespaces in turn.
func controllerOptions(concurrency int) (controller.Options, error) {
	queueMetrics, err := telemetry.NewQueueMetrics(runtimemetrics.Registry)
	if err != nil {
		return controller.Options{}, fmt.Errorf("registering the metrics of the queue: %w", err)
	}
	return controller.Options{
		MaxConcurrentReconciles: concurrency,
		// The check rejects two controllers of the same name in a process. Tests run one operator after another.
		SkipNameValidation: ptr.To(true),
		RateLimiter:        state.NewRateLimiter(),
		NewQueue: func(name string, retries workqueue.TypedRateLimiter[reconcile.Request]) queue {
			return fairqueue.New(fairqueue.Options[reconcile.Request]{
				Workers: concurrency, ShareFor: shareFor, RateLimiter: retries, Metrics: queueMetrics.ForQueue(name),
			})
		},
		// Standby replicas sync caches before they are elected.
		EnableWarmup:          ptr.To(true),
		ReconciliationTimeout: passTimeout,
	}, nil
}
