// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the loop: take a snapshot of the world of one
// VectorSidecar, decide, apply, tell. It judges nothing itself.
package controller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/sidecarchart"
)

// Retries begin and end at these intervals.
const (
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// Options are what the loop needs to know. All fields but Installation are
// required.
type Options struct {
	// Chart is the sidecar chart.
	Chart *sidecarchart.Chart
	// DefaultEnvironment is used when neither a VectorSidecar nor its
	// namespace names one.
	DefaultEnvironment string
	// Installation names the ConfigMap with the installation's values, one
	// key ENVIRONMENT.yaml each. Empty for none.
	Installation types.NamespacedName
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// Concurrency is how many VectorSidecars are worked on at once.
	Concurrency int
}

// Reconciler brings the workloads of one VectorSidecar at a time to what it says.
type Reconciler struct {
	options    Options
	client     client.Client
	live       client.Reader
	events     events.EventRecorder
	writer     *apply.Writer
	memo       *decision.Memo
	ledger     *ledger
	breaker    *breaker
	references *references
	history    *history
	catalogue  *catalogue
}

// Setup adds the loop, its indexes and its watches to a manager.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) error {
	r := &Reconciler{
		options:    options,
		client:     mgr.GetClient(),
		live:       mgr.GetAPIReader(),
		events:     mgr.GetEventRecorder(meta.Operator),
		writer:     apply.New(mgr.GetClient()),
		memo:       decision.NewMemo(),
		ledger:     newLedger(time.Now),
		breaker:    newBreaker(time.Now),
		references: newReferences(),
		history:    newHistory(mgr.GetAPIReader(), time.Now),
		catalogue:  &catalogue{builtin: options.Chart.Environments},
	}
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("adding indexes: %w", err)
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.VectorSidecar{}, ownChanges()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			// The check is for two loops of one name in a process; tests run
			// one operator after the other.
			SkipNameValidation: ptr.To(true),
			RateLimiter:        workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](firstRetry, lastRetry),
		})
	return r.addWatches(builder).Complete(r)
}

// Reconcile is one pass for one VectorSidecar.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	sidecar := &v1alpha1.VectorSidecar{}
	if err := r.client.Get(ctx, request.NamespacedName, sidecar); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	snapshot, err := r.observe(ctx, sidecar)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("observing: %w", err)
	}
	decided, err := decision.Decide(ctx, snapshot, r.memo)
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("deciding: %w", err)
	}
	r.references.keep(request.NamespacedName, decided.ConfigMaps()...)
	if err := r.holdBeforeWriting(ctx, sidecar, decided); err != nil {
		return reconcile.Result{}, err
	}
	outcome := r.act(ctx, sidecar, decided)
	if err := r.tell(ctx, sidecar, decided, outcome); err != nil {
		return reconcile.Result{}, err
	}
	if err := outcome.retry(); err != nil {
		return reconcile.Result{}, err
	}
	if sidecar.DeletionTimestamp != nil {
		return r.release(ctx, sidecar)
	}
	return reconcile.Result{RequeueAfter: r.lookAgain(request.NamespacedName, outcome)}, nil
}

// staleRetry is when to look again at a workload that was changed while it was
// looked at.
const staleRetry = 200 * time.Millisecond

// lookAgain is when to look again although no event may come: a break in a repair
// loop ends by itself, and what refused a write may be lifted. 0 is never.
func (r *Reconciler) lookAgain(name types.NamespacedName, result *outcome) time.Duration {
	_, wait := r.breaker.open(name)
	if result.isStale {
		return staleRetry
	}
	if result.lookAgain > 0 && (wait == 0 || wait > result.lookAgain) {
		wait = result.lookAgain
	}
	if len(result.failures) > 0 && (wait == 0 || wait > lastRetry) {
		return lastRetry
	}
	return wait
}

// forget drops what is remembered of a VectorSidecar that is gone.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.keep(name, nil)
	r.references.keep(name)
	r.history.keep(name, nil, nil)
}
