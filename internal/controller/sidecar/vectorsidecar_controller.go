// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package sidecar reconciles VectorSidecars. A reconcile reads a snapshot of the cluster, makes a decision
// (package decision), applies it (package apply), and writes status and events.
package sidecar

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/finalizer"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/slots"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// VectorSidecarReconciler reconciles the workloads of VectorSidecars.
type VectorSidecarReconciler struct {
	instruments *instrument.Observer

	memory      *state.Memory
	snapshots   *snapshots
	validations *validations
	preflights  *preflights
	applier     *applier
	finalizer   *finalizer.Finalizer
	statuses    *statusWriter
	periodic    *periodic
	// subcontrollers are the other controllers of the manager.
	subcontrollers []subcontroller
	slots          *slots.Scheduler
	rollouts       *rolloutTracker
	clusters       *state.Clusters
}

// subcontroller is a controller that shares the state of the VectorSidecarReconciler, and does not call it.
type subcontroller interface {
	SetupWithManager(ctx context.Context, mgr ctrl.Manager) error
}

// Reconcile reconciles one VectorSidecar, or one ClusterVectorSidecar in one namespace, with metrics and a trace.
func (r *VectorSidecarReconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	if !r.rollouts.catalog.IsReady() {
		return reconcile.Result{RequeueAfter: state.FirstConflict}, nil
	}
	ctx, reconcileStep := r.instruments.StartReconcile(ctx, request.NamespacedName)
	resultLabel := telemetry.ResultFailed
	defer func() { r.instruments.EndReconcile(&reconcileStep, resultLabel, err, recover()) }()
	result, resultLabel, err = r.reconcileWithRetries(ctx, request, reconcileStep.Span)
	requeueAfter := r.rollouts.catalog.Tidy(ctx)
	if err != nil && shutdown.IsStopping(ctx) {
		log.FromContext(ctx).V(1).Info("reconcile stopped by shutdown", "cause", err.Error())
		return reconcile.Result{}, nil
	}
	switch isConflict := r.isTransient(request.NamespacedName, err); {
	case isConflict || errors.Is(err, election.ErrNotLeading):
		log.FromContext(ctx).V(1).Info("requeueing after conflict", "cause", err.Error())
		wait := state.FirstConflict
		if isConflict {
			wait = r.memory.RecordConflict(request.NamespacedName)
		}
		return reconcile.Result{RequeueAfter: wait}, nil
	case err != nil:
		r.fail(ctx, request.NamespacedName, err)
		r.requeue(request.NamespacedName, schedule.NextRequeue(result.RequeueAfter, requeueAfter))
		return reconcile.Result{}, err // controller-runtime ignores the result of a reconcile with an error.
	default:
		r.memory.ResetConflicts(request.NamespacedName)
		result.RequeueAfter = schedule.NextRequeue(result.RequeueAfter, requeueAfter)
	}
	return result, nil
}

// requeue requests another reconcile, in addition to the retry of the failed one. A delay of 0 requests none.
func (r *VectorSidecarReconciler) requeue(name types.NamespacedName, delay time.Duration) {
	if delay > 0 {
		r.periodic.notifier.NotifyAfter(delay, name)
	}
}

// withdraw makes other VectorSidecars not wait for the one with a failed reconcile: it removes the demand for rollout
// slots, and the last known progress counts in its wave.
func (r *VectorSidecarReconciler) withdraw(name types.NamespacedName) {
	r.slots.Withdraw(name)
	r.rollouts.waves.RecordFailure(name)
}

// isTransient reports whether an error of a request is a conflict, and a retry is expected to succeed.
func (r *VectorSidecarReconciler) isTransient(request types.NamespacedName, err error) bool {
	return errors.Is(err, apply.ErrStale) && r.memory.IsConflictTransient(request)
}

// fail records a failed reconcile and writes the reason to the status, because a user may have to act.
func (r *VectorSidecarReconciler) fail(ctx context.Context, name types.NamespacedName, failure error) {
	isTold := errors.As(failure, new(*reportedError))
	sidecar, err := r.snapshots.sidecars.Get(ctx, name)
	switch {
	case err != nil || sidecar == nil:
	case meta.IsOfCluster(sidecar.Name):
		r.statuses.failNamespace(sidecar, failure, isTold)
	case !isTold:
		r.statuses.fail(ctx, r.memory.GetOrCreate(name), sidecar, failure)
	}
}

// reconcileWithRetries makes one reconcile. It also returns the result for metrics. After an error or a panic, no other
// VectorSidecar waits for this one.
func (r *VectorSidecarReconciler) reconcileWithRetries(ctx context.Context, request reconcile.Request, span telemetry.Span) (result reconcile.Result, resultLabel string, err error) {
	isFinished := false
	defer func() {
		if !isFinished || err != nil {
			r.withdraw(request.NamespacedName)
		}
	}()
	result, resultLabel, err = r.reconcileOnce(ctx, request, span)
	isFinished = true
	return result, resultLabel, err
}

// reconcileOnce makes one reconcile.
func (r *VectorSidecarReconciler) reconcileOnce(ctx context.Context, request reconcile.Request, span telemetry.Span) (reconcile.Result, string, error) {
	sidecar, err := r.snapshots.sidecars.Get(ctx, request.NamespacedName)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	if sidecar == nil {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	if meta.IsOfCluster(sidecar.Name) && r.clusters.StateFor(sidecar).IsReleased(sidecar) { // The event is of a deleted companion.
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	sidecar, err = r.finalizer.RefreshIfDeleting(ctx, sidecar)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	if sidecar == nil {
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	if err := r.snapshots.namespaces.requireCached(ctx, sidecar); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	sidecarState := r.memory.GetOrCreate(request.NamespacedName)
	if sidecarState.LacksLastGood(sidecar) {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("the cache has an earlier status of %s: %w", desired.Describe(sidecar), apply.ErrStale)
	}
	sidecar.Status = *sidecarState.Status(sidecar)
	if retry, lastRetry := fleet.RetryDigest(sidecar.Annotations), sidecar.Status.Retry; retry != "" && (lastRetry == nil || lastRetry.Requested != retry) {
		sidecarState.ResetRejections(retry)
		sidecarState.ForgetDryRuns(meta.AnnotationRetryRollout, retry)
	}
	reconcileRequest, err := r.periodic.live.pendingRequest(ctx, sidecar, sidecarState)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	rollout, err := r.rollouts.advanceSidecar(ctx, sidecarState, sidecar)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("starting a revision of %s: %w", desired.Describe(sidecar), err)
	}
	if reconcileRequest != "" { // The user's request repeats the dry runs.
		sidecarState.ForgetDryRuns(meta.AnnotationReconcileAt, reconcileRequest)
	}
	isFresh := reconcileRequest != "" || sidecarState.IsResyncDue()
	input, err := r.snapshots.takeSnapshot(ctx, sidecar, sidecarState, rollout, isFresh)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("taking a snapshot for %s: %w", desired.Describe(sidecar), err)
	}
	decision, err := r.decide(ctx, input, sidecarState, isFresh)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("deciding on the workloads of %s: %w", desired.Describe(sidecar), err)
	}
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues(telemetry.KeyEnvironment, decision.Environment))
	span.Set(telemetry.AttributeEnvironment, decision.Environment)
	span.Set(telemetry.AttributeTemplateSet, decision.TemplateSet)
	span.SetCount(telemetry.AttributeMatched, decision.Matched)
	r.snapshots.configMaps.forget(sidecarState.KeepReferences(decision.ConfigMaps()))
	switch isReverting, requeueAfter, err := r.rollouts.revertSpec(ctx, sidecarState, sidecar, rollout, decision); {
	case err != nil:
		return reconcile.Result{}, telemetry.ResultFailed, err
	case isReverting:
		return reconcile.Result{RequeueAfter: requeueAfter}, telemetry.ResultUnchanged, nil
	case rollout != nil && rollout.IsFirstStart(decision): // The reconcile of the ClusterVectorSidecar wakes this one.
		r.clusters.RequestStart(rollout)
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	if err := r.rollouts.record(ctx, sidecarState, sidecar, rollout, decision); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("recording the started revision of %s: %w", desired.Describe(sidecar), err)
	}
	sidecarState.SetAdoptedContent(decision.Adopted)
	slotWait := r.slots.Reserve(ctx, request.NamespacedName, decision)
	// The API server must not inject a sidecar again after its removal. The controller of OverlaySets wakes this reconcile.
	if r.applier.overlays.RequestRemoval(sidecar) {
		r.slots.Report(request.NamespacedName, decision, nil)
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	if r.preflights.runDryRuns(ctx, sidecarState, decision) {
		r.slots.Report(request.NamespacedName, decision, nil)
		return reconcile.Result{RequeueAfter: state.AtOnce}, telemetry.ResultUnchanged, ctx.Err()
	}
	if err := r.finalizer.AddBeforeWriting(ctx, sidecar, decision); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	results := r.applier.apply(ctx, sidecarState, sidecar, decision)
	written := results.Written()
	rolloutStatus, rolloutWait := r.rollouts.observe(ctx, sidecar, rollout, decision, written)
	r.rollouts.recordProgress(sidecarState, sidecar, rollout, decision)
	r.slots.Report(request.NamespacedName, decision, written)
	report, namespaceWait := r.rollouts.newReport(sidecar, rollout, decision, results)
	specStatus := lastgood.SpecStatus{} // The status of a ClusterVectorSidecar has its own.
	if !meta.IsOfCluster(sidecar.Name) {
		specStatus = lastgood.NextSpecStatus(sidecar, r.rollouts.newObservation(sidecar, rollout, decision, written))
	}
	if err := results.Retryable(); errors.Is(err, election.ErrNotLeading) {
		return reconcile.Result{}, telemetry.ResultFailed, err // Only the leader reports errors.
	}
	if ctx.Err() == nil { // The next reconcile creates the Jobs.
		results = append(results, r.validations.start(ctx, sidecarState, sidecar, decision)...)
	}
	statusWait, err := r.statuses.write(ctx, sidecarState, sidecar, status.Facts{
		Decision: decision, Results: results, ReconcileRequest: reconcileRequest, Rollout: rolloutStatus, SpecStatus: specStatus,
	}, report)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, &reportedError{err}
	}
	label := resultLabel(sidecar, results)
	if ctx.Err() == nil && results.CanUnblockOthers(decision.Plans) {
		return reconcile.Result{RequeueAfter: state.AtOnce}, label, nil
	}
	// The decision continues although writes have failed: a soak ends, the next wave starts, or the status is written.
	requeueAfter := schedule.NextRequeue(decision.RequeueAfter, slotWait, rolloutWait, statusWait)
	// The next reconcile makes the writes that did not start in time.
	if err := errors.Join(results.Retryable(), ctx.Err()); err != nil {
		return reconcile.Result{RequeueAfter: requeueAfter}, telemetry.ResultFailed, &reportedError{err}
	}
	if decision.IsForDeletion { // Else the event of the deletion causes another reconcile.
		result, err := r.release(ctx, sidecarState, sidecar, decision, results)
		return result, label, err
	}
	requeueAfter = schedule.NextRequeue(append(stateWaits(sidecarState, decision, results, r.snapshots.options.ReadPods), requeueAfter, namespaceWait)...)
	return reconcile.Result{RequeueAfter: requeueAfter}, label, nil
}

// release removes the finalizer of a deleted VectorSidecar when the sidecar is removed from all workloads.
func (r *VectorSidecarReconciler) release(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, decision *decision.Decision, results decision.Results) (reconcile.Result, error) {
	if finalizer.HasMarksToRemove(decision, results) {
		return reconcile.Result{RequeueAfter: finalizer.ReleaseRetry}, nil
	}
	name := client.ObjectKeyFromObject(sidecar)
	result, err := r.finalizer.Release(ctx, sidecar, len(results.Written()) > 0, r.applier.overlays.RemainingLag(name))
	if !r.isTransient(name, err) {
		sidecarState.SetFinalizerError(err)
	}
	if meta.IsOfCluster(sidecar.Name) && err == nil && result.IsZero() {
		r.forget(name) // The ClusterVectorSidecar is removed from the namespace.
	}
	return result, err
}

// decide makes the decision for an Input. A decision from scratch does not use cached renderings either.
func (r *VectorSidecarReconciler) decide(ctx context.Context, input *decision.Input, sidecarState *state.Sidecar, isFresh bool) (decided *decision.Decision, err error) {
	ctx, planning := r.instruments.StartStep(ctx, "plan")
	defer func() { planning.End(err) }()
	cache := r.snapshots.options.Cache
	if isFresh {
		cache = desired.NewCache()
	}
	if decided, err = decision.Decide(ctx, input, cache); err != nil {
		return nil, err
	}
	sidecarState.SetPrevious(decided.Previous)
	if isFresh {
		r.snapshots.options.Cache.Adopt(cache)
		sidecarState.MarkResynced()
		r.instruments.Metrics.RecordResync(decided.Writes())
	}
	return decided, nil
}

// forget drops the state of a deleted VectorSidecar.
func (r *VectorSidecarReconciler) forget(name types.NamespacedName) {
	r.snapshots.configMaps.forget(r.memory.Forget(name))
	r.applier.uses.Forget(name)
	r.applier.overlays.Forget(name)
	r.finalizer.Forget(name)
	r.periodic.leftovers.Wake()
	r.periodic.live.forget(name.Namespace)
	r.slots.Forget(name)
	r.rollouts.waves.Forget(name)
	r.clusters.RemoveNamespace(name)
	r.instruments.Metrics.Forget(name)
}

// SetupWithManager adds the VectorSidecarReconciler, its indexes and its watches to the manager that was passed to New.
func (r *VectorSidecarReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	options := r.snapshots.options
	if err := mgr.Add(r.applier.events); err != nil {
		return fmt.Errorf("adding the event sender: %w", err)
	}
	if err := sidecarcache.AddIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("adding indexes: %w", err)
	}
	if len(options.WatchNamespaces) > 0 {
		if err := mgr.Add(schedule.Every(namespaceInterval, r.snapshots.namespaces.refreshAll)); err != nil {
			return fmt.Errorf("adding the polling of namespaces: %w", err)
		}
	}
	if err := r.periodic.add(ctx, mgr, options); err != nil {
		return err
	}
	for _, subcontroller := range r.subcontrollers {
		if err := subcontroller.SetupWithManager(ctx, mgr); err != nil {
			return fmt.Errorf("adding a controller to the manager: %w", err)
		}
	}
	if err := r.snapshots.catalog.SetupWithManager(ctx, mgr); err != nil {
		return fmt.Errorf("adding the controller of the catalog: %w", err)
	}
	if err := addInformers(ctx, mgr.GetCache(), options.Workloads); err != nil {
		return err
	}
	settings, err := controllerOptions(options.Concurrency)
	if err != nil {
		return err
	}
	watches := &watches{
		sidecars: r.snapshots.sidecars, workloads: r.snapshots.workloads, namespaces: r.snapshots.namespaces,
		memory: r.memory, notifier: r.periodic.notifier, leftovers: r.periodic.leftovers,
		clusters: &clusterNamespaces{sidecars: r.snapshots.sidecars, namespaces: r.snapshots.namespaces},
	}
	if err := watches.addSource(mgr, r.applier.uses, r.instruments); err != nil {
		return err
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.VectorSidecar{}, ctrlbuilder.WithPredicates(notify.SidecarChanges())).
		WithOptions(settings).
		WithLogConstructor(instrument.NewRequestLogger(mgr.GetLogger()))
	return watches.addWatches(builder).Complete(shutdown.StopReconciles(ctx, r))
}

// Alive returns an error while a reconcile is stuck.
func (r *VectorSidecarReconciler) Alive() error {
	return r.instruments.Alive()
}
