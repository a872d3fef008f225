// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the reconcile loop. For one VectorSidecar at a time it takes a snapshot of
// the cluster, has it evaluated, applies the decision, and writes status and events. It makes no
// decisions itself.
package controller

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/discovery"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// VectorSidecarReconciler reconciles the workloads of VectorSidecars.
type VectorSidecarReconciler struct {
	*instruments

	cache       *desired.Cache
	memory      *state.Memory
	snapshots   *snapshots
	validations *validations
	preflights  *preflights
	applier     *applier
	finalizer   *finalizer
	statuses    *statusWriter
	periodic    *periodic
	stages      *stages
	clusters    *clusters
}

// Reconcile makes one observed pass for one VectorSidecar.
func (r *VectorSidecarReconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	ctx, whole := r.beginPass(ctx, request.NamespacedName)
	what := telemetry.ResultFailed
	defer func() { r.endPass(&whole, what, err, recover()) }()
	result, what, err = r.pass(ctx, request, whole.span)
	if err != nil {
		r.skip(ctx, request.NamespacedName)
	}
	again := r.stages.tidy(ctx)
	if err != nil && isStopping(ctx) {
		log.FromContext(ctx).V(1).Info("pass stopped by shutdown", "cause", err.Error())
		return reconcile.Result{}, nil
	}
	switch isConflict := r.isTransient(request.NamespacedName, err); {
	case isConflict || errors.Is(err, election.ErrNotLeading):
		log.FromContext(ctx).V(1).Info("object changed meanwhile, retrying", "cause", err.Error())
		wait := state.FirstConflict
		if isConflict {
			wait = r.memory.Conflict(request.NamespacedName)
		}
		return reconcile.Result{RequeueAfter: wait}, nil
	case err != nil:
		r.fail(ctx, request.NamespacedName, err)
		r.stages.lookAfter(request.NamespacedName, minNonZero(result.RequeueAfter, again))
		return reconcile.Result{}, err // With an error the result does not count.
	default:
		r.memory.NoConflict(request.NamespacedName)
		result.RequeueAfter = minNonZero(result.RequeueAfter, again)
	}
	return result, nil
}

// skip ends all waiting for a VectorSidecar whose pass has failed. In its wave, what was last known of its progress
// counts; as long as that cannot be read, the wave goes on waiting.
func (r *VectorSidecarReconciler) skip(ctx context.Context, name types.NamespacedName) {
	var last []fleet.Part
	var err error
	switch cluster, isCluster := meta.ParseClusterName(name.Name); {
	case isCluster && name.Namespace == "":
		last, err = r.clusters.lastOf(ctx, r.stages, cluster)
	case !isCluster:
		var sidecar *v1alpha1.VectorSidecar
		if sidecar, err = r.snapshots.sidecars.get(ctx, name); sidecar != nil {
			last, err = r.stages.lastOf(ctx, r.memory.Of(name), sidecar)
		}
	}
	if err == nil {
		r.stages.passOver(name, last)
	}
	r.stages.skip(name)
}

// isTransient reports whether an error of a request is a conflict that a retry is not expected to meet again.
func (r *VectorSidecarReconciler) isTransient(request types.NamespacedName, err error) bool {
	return errors.Is(err, apply.ErrStale) && r.memory.IsConflictTransient(request)
}

// fail records that a pass failed, and writes the reason to the status: somebody may have to act on it.
func (r *VectorSidecarReconciler) fail(ctx context.Context, name types.NamespacedName, failure error) {
	isTold := errors.As(failure, new(*toldError))
	cluster, isCluster := meta.ParseClusterName(name.Name)
	switch {
	case isCluster && name.Namespace != "":
		r.clusters.failIn(ctx, name.Namespace, cluster, failure, isTold)
	case isTold:
	case isCluster:
		r.clusters.fail(ctx, cluster, failure)
	default:
		if sidecar, err := r.snapshots.sidecars.get(ctx, name); err == nil && sidecar != nil {
			r.statuses.fail(ctx, r.memory.Of(name), sidecar, failure)
		}
	}
}

// pass makes one pass for one VectorSidecar. It also returns the result for metrics.
func (r *VectorSidecarReconciler) pass(ctx context.Context, request reconcile.Request, span telemetry.Span) (reconcile.Result, string, error) {
	if cluster, isCluster := meta.ParseClusterName(request.Name); isCluster && request.Namespace == "" {
		again, err := r.clusters.pass(ctx, cluster, r.stages)
		return reconcile.Result{RequeueAfter: again}, passResult(err), err
	}
	sidecar, err := r.snapshots.sidecars.get(ctx, request.NamespacedName)
	if sidecar == nil || err != nil {
		if err == nil {
			r.forget(request.NamespacedName)
			err = r.applier.sets.drop(ctx, request.NamespacedName)
		}
		return reconcile.Result{}, passResult(err), err
	}
	if cluster, isCluster := meta.ParseClusterName(request.Name); isCluster {
		if last := r.clusters.of(cluster).statusIn(request.Namespace); last != nil {
			sidecar.Status.Canary = last.Canary
		}
	}
	sidecar, err = r.finalizer.deleted(ctx, sidecar)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	if sidecar == nil {
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	if err := r.snapshots.namespaces.seen(ctx, sidecar); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	known := r.memory.Of(request.NamespacedName)
	if err := r.validations.collect(ctx, known, sidecar); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("reading Vector's verdicts: %w", err)
	}
	sidecar.Status = *known.Status(sidecar)
	if asked, last := fleet.RetryOf(sidecar.Annotations), sidecar.Status.Retry; asked != "" && (last == nil || last.Requested != asked) {
		known.Forgive(asked)
		known.ForgetTrials(meta.AnnotationRetryRollout, asked)
	}
	asking, err := r.asking(ctx, sidecar, known)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	staged, err := r.stages.advance(ctx, known, sidecar)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("letting a revision through: %w", err)
	}
	taken, err := r.snapshots.take(ctx, sidecar, known, staged.watch(r.clock()))
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("taking the snapshot: %w", err)
	}
	taken.Hold, taken.Late = staged.hold(), staged.late()
	r.preflights.renew(known, taken, asking)
	decided, err := r.decide(ctx, taken, known, asking != "" || known.IsResyncDue())
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("deciding: %w", err)
	}
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues(telemetry.KeyEnvironment, decided.Environment))
	span.Set(telemetry.AttributeEnvironment, decided.Environment)
	span.Set(telemetry.AttributeTemplateSet, decided.TemplateSet)
	span.Count(telemetry.AttributeMatched, decided.Matched)
	r.snapshots.configMaps.forget(known.KeepReferences(decided.ConfigMaps()))
	switch isBack, err := r.stages.goBack(ctx, known, sidecar, staged, decided); {
	case err != nil:
		return reconcile.Result{}, telemetry.ResultFailed, err
	case isBack:
		return reconcile.Result{RequeueAfter: atOnce}, telemetry.ResultUnchanged, nil
	}
	if err := r.record(ctx, known, sidecar, staged, decided); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("letting a revision through: %w", err)
	}
	known.Adopt(decided.Adopted)
	r.stages.take(ctx, request.NamespacedName, decided)
	return r.carryOut(ctx, known, sidecar, decided, staged, asking)
}

// record writes to the status what has to be there before anything is written for a revision: to that of
// the ClusterVectorSidecar, if that is the one which goes by waves.
func (r *VectorSidecarReconciler) record(ctx context.Context, known *state.Sidecar, sidecar *v1alpha1.VectorSidecar, staged *stage, decided *decision.Decision) error {
	if staged != nil && staged.begins(decided) {
		return r.clusters.begin(ctx, staged.ofCluster, staged, r.clock())
	}
	return r.stages.record(ctx, known, sidecar, staged, decided)
}

// carryOut is the part of a pass that writes.
func (r *VectorSidecarReconciler) carryOut(ctx context.Context, known *state.Sidecar, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision, staged *stage, asking string) (reconcile.Result, string, error) {
	if r.preflights.judge(ctx, known, decided) {
		r.stages.begun(client.ObjectKeyFromObject(sidecar), decided, nil)
		return reconcile.Result{RequeueAfter: atOnce}, telemetry.ResultUnchanged, ctx.Err()
	}
	if err := r.finalizer.holdBeforeWriting(ctx, sidecar, decided); err != nil {
		r.stages.begun(client.ObjectKeyFromObject(sidecar), decided, nil)
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	outcome := r.applier.act(ctx, known, sidecar, decided)
	outcome.asking = asking
	r.stages.begun(client.ObjectKeyFromObject(sidecar), decided, outcome.done)
	outcome.rollout, outcome.staged = r.stages.observe(ctx, sidecar, staged, decided, outcome.done)
	if sidecar.Cluster != nil {
		outcome.part = r.stages.partOf(sidecar, staged, decided, outcome)
	} else {
		outcome.own = lastgood.Keep(sidecar, r.stages.seen(sidecar, staged, decided, outcome.done))
	}
	if err := outcome.retry(); errors.Is(err, election.ErrNotLeading) {
		return reconcile.Result{}, telemetry.ResultFailed, err // It is for the leader to tell.
	}
	if ctx.Err() == nil { // The next reconcile starts them.
		r.validations.start(ctx, known, sidecar, decided, outcome)
	}
	if err := r.statuses.write(ctx, known, sidecar, decided, outcome); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, &toldError{err}
	}
	if ctx.Err() == nil && outcome.frees(decided.Plans) {
		return reconcile.Result{RequeueAfter: atOnce}, outcome.name(sidecar), nil
	}
	// What there was no time for is left to the next pass.
	if err := errors.Join(outcome.retry(), ctx.Err()); err != nil {
		return reconcile.Result{RequeueAfter: outcome.goesOn(decided.Again)}, telemetry.ResultFailed, &toldError{err}
	}
	if sidecar.DeletionTimestamp != nil {
		if hasMarksToRemove(decided, outcome) {
			return reconcile.Result{RequeueAfter: releaseRetry}, outcome.name(sidecar), nil
		}
		result, err := r.finalizer.release(ctx, sidecar)
		if !r.isTransient(client.ObjectKeyFromObject(sidecar), err) {
			known.SetUnreleased(err)
		}
		if sidecar.Cluster != nil && err == nil && result.IsZero() {
			r.forget(client.ObjectKeyFromObject(sidecar)) // It is out of the namespace.
		}
		return result, outcome.name(sidecar), err
	}
	return reconcile.Result{RequeueAfter: r.lookAgain(known, decided, outcome)}, outcome.name(sidecar), nil
}

// decide evaluates the snapshot, without any earlier results if isAnew.
func (r *VectorSidecarReconciler) decide(ctx context.Context, taken *evaluate.Snapshot, known *state.Sidecar, isAnew bool) (decided *decision.Decision, err error) {
	ctx, planning := r.begin(ctx, "plan")
	defer func() { planning.end(err) }()
	taken.Observer = r.observeStep
	if !isAnew {
		taken.Previous = known.Previous()
		if decided, err = evaluate.DecideFrom(ctx, taken, r.snapshots.source(known), r.cache); err == nil {
			known.SetPrevious(decided.Previous)
		}
		return decided, err
	}
	fresh := desired.NewCache()
	if decided, err = evaluate.DecideFrom(ctx, taken, r.snapshots.source(known), fresh); err == nil {
		r.cache.Adopt(fresh)
		known.SetPrevious(decided.Previous)
		known.Resynced()
		r.Metrics.RecordResync(decided.Writes())
	}
	return decided, err
}

// asking returns the value of the annotation that requests a pass without memory, "" if there is
// none or it has been followed already. If it requests a live list of workloads, it lists them.
func (r *VectorSidecarReconciler) asking(ctx context.Context, sidecar *v1alpha1.VectorSidecar, known *state.Sidecar) (string, error) {
	request := askingOf(sidecar)
	if request == "" || request == known.Status(sidecar).LastHandledReconcileAt {
		return "", nil
	}
	if strings.HasSuffix(request, meta.ReconcileLive) {
		if err := r.periodic.live.namespace(ctx, sidecar.Namespace, request); err != nil {
			return "", err
		}
	}
	return request, nil
}

// lookAgain returns when to requeue even if no event comes, 0 for never: a pause in a repair loop
// and a soak end by themselves, the reason for a refused write may be gone, pods are not watched,
// and a watch may lag.
func (r *VectorSidecarReconciler) lookAgain(known *state.Sidecar, decided *decision.Decision, result *outcome) time.Duration {
	_, wait := known.Loops()
	if len(result.failures) > 0 || decided.Late {
		wait = minNonZero(wait, state.LastRetry)
	}
	if decided.BlindHalt != "" && r.snapshots.options.ReadPods { // The permission may be granted.
		wait = minNonZero(wait, state.LastRetry)
	}
	wait = minNonZero(wait, known.NextPodLook())
	return minNonZero(minNonZero(wait, result.goesOn(decided.Again)), minNonZero(result.missed, result.lookAgain))
}

// forget drops the state of a VectorSidecar that is gone.
func (r *VectorSidecarReconciler) forget(name types.NamespacedName) {
	r.snapshots.configMaps.forget(r.memory.Forget(name))
	r.applier.uses.Forget(name)
	r.periodic.leftovers.wake()
	r.periodic.live.forget(name.Namespace)
	r.stages.forget(name)
	r.clusters.leave(name)
	r.Metrics.Forget(name)
}

// SetupWithManager adds the VectorSidecarReconciler, its indexes and its watches to the manager of New.
func (r *VectorSidecarReconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	options := r.snapshots.options
	if err := mgr.Add(r.applier.events); err != nil {
		return fmt.Errorf("adding the event sender: %w", err)
	}
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return fmt.Errorf("adding indexes: %w", err)
	}
	if len(options.WatchNamespaces) > 0 {
		if err := mgr.Add(r.snapshots.namespaces); err != nil {
			return fmt.Errorf("adding the polling of namespaces: %w", err)
		}
	}
	if err := r.periodic.add(ctx, mgr, options); err != nil {
		return err
	}
	r.Metrics.SetTemplateSets(1, 0) // The built-in one, until there is a look at others.
	r.stages.countNone()
	if err := addInformers(ctx, mgr.GetCache(), options.Workloads); err != nil {
		return err
	}
	settings, err := controllerOptions(options.Concurrency)
	if err != nil {
		return err
	}
	apis, err := discovery.NewDiscoveryClientForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("creating a discovery client: %w", err)
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.VectorSidecar{}, ownChanges()).
		WithOptions(settings).
		WithLogConstructor(loggerOf(mgr.GetLogger()))
	if options.ValidationJobs {
		builder = builder.Owns(&batchv1.Job{})
	}
	watching := &watches{
		sidecars: r.snapshots.sidecars, workloads: r.snapshots.workloads, namespaces: r.snapshots.namespaces, catalog: r.snapshots.catalog,
		memory: r.memory, resyncs: r.periodic.resyncs, pace: r.stages.pace, leftovers: r.periodic.leftovers, clusters: r.clusters, sets: r.applier.sets,
		apis: apis, kinds: &workloadWatch{
			cache: mgr.GetCache(), workloads: r.snapshots.workloads, awaits: r.memory.IsAwaited, uses: r.applier.uses, now: r.clock, metrics: r.Metrics,
		},
	}
	return watching.add(builder).Complete(stoppingWith(ctx, r))
}

// Alive returns an error while a pass is stuck.
func (r *VectorSidecarReconciler) Alive() error { return r.liveness.check(r.now()) }
