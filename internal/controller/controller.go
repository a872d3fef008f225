// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package controller is the loop: take a snapshot of the world of one
// VectorSidecar, decide, apply, tell. It judges nothing itself.
package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-logr/logr"
	batchv1 "k8s.io/api/batch/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/evaluate"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/source"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// Options are what the loop needs to know. All fields but Namespace, Installation,
// WrittenBy, Version, WatchNamespaces, Instruments, Patience and the intervals are required.
type Options struct {
	// Workloads has made what the manager's cache holds in place of workloads.
	Workloads *workloadcache.Cache
	// Catalogue turns what the platform gives into template sets.
	Catalogue *catalog.Catalog
	// Namespace is the operator's own, where template sets are. Empty for none.
	Namespace string
	// DefaultEnvironment is used when neither a VectorSidecar nor its
	// namespace names one.
	DefaultEnvironment string
	// Installation names the ConfigMap with the installation's values, one
	// key ENVIRONMENT.yaml each, and its policy. Empty for none.
	Installation types.NamespacedName
	// WrittenBy is this installation of the operator, NAMESPACE/NAME, by which its
	// writes are known. Empty for none: then nothing is known to be its own.
	WrittenBy string
	// Version of the operator. Empty for one that is not to be told of.
	Version string
	// KubeVersion of the API server, such as "v1.36.0".
	KubeVersion string
	// WatchNamespaces are those that the cache is restricted to; empty for all.
	WatchNamespaces []string
	// Concurrency is how many VectorSidecars are worked on at once.
	Concurrency int
	// Instruments observe the loop.
	Instruments Instruments
	// Patience is how long a pass may make no step before the loop counts as
	// stuck; 0 for longer than anything it does may take.
	Patience time.Duration
	// ValidationJobs lets VectorSidecars have Vector judge a configuration in
	// a Job.
	ValidationJobs bool
	// ReadPods has the pods of workloads looked at that are not settled.
	ReadPods bool
	// Cache remembers renderings and checks.
	Cache *desired.Cache
	// ReconcileInterval is about how often every VectorSidecar is judged with nothing
	// remembered, LiveListInterval about how often the workloads are listed live and
	// compared with the cache; 0 for never.
	ReconcileInterval, LiveListInterval time.Duration
	// Relist has the manager's cache list the workloads anew.
	Relist func()
	// Budget is what large texts wait for, those of all passes and of what else shares it.
	Budget *bounded.Budget
}

// Reconciler brings the workloads of one VectorSidecar at a time to what it says.
type Reconciler struct {
	options    Options
	client     client.Client
	live       client.Reader
	events     *announcer
	writer     *apply.Writer
	cache      *desired.Cache
	memory     *state.Memory
	catalogue  *catalog.Catalog
	namespaces *namespaces
	fleet      *workloadcache.Cache
	contents   *contents
	pods       *pods
	sweeper    *sweeper
	anew       *anew
	auditor    *auditor

	*instruments
}

// Setup adds the loop, its indexes and its watches to a manager, whose cache must
// hold what Workloads makes of each workload, ConfigMaps as Digested leaves them, and
// VectorSidecars as Bounded does.
func Setup(ctx context.Context, mgr ctrl.Manager, options Options) (*Reconciler, error) {
	announcer := newAnnouncer(mgr.GetEventRecorder(meta.Operator), mgr.GetScheme())
	if err := mgr.Add(announcer); err != nil {
		return nil, fmt.Errorf("adding the events: %w", err)
	}
	r := &Reconciler{
		options:    options,
		client:     mgr.GetClient(),
		live:       mgr.GetAPIReader(),
		events:     announcer,
		writer:     apply.New(mgr.GetClient()),
		cache:      options.Cache,
		memory:     state.New(time.Now),
		catalogue:  options.Catalogue,
		namespaces: newNamespaces(mgr.GetClient(), mgr.GetAPIReader(), options.WatchNamespaces),
		fleet:      options.Workloads,
		contents:   newContents(mgr.GetAPIReader()),
		anew:       newAnew(),
		pods:       &pods{live: mgr.GetAPIReader()},

		instruments: &instruments{Instruments: options.Instruments, pulse: newPulse(options.Patience), now: time.Now},
	}
	if err := addIndexes(ctx, mgr.GetFieldIndexer()); err != nil {
		return nil, fmt.Errorf("adding indexes: %w", err)
	}
	if len(options.WatchNamespaces) > 0 {
		if err := mgr.Add(r.namespaces); err != nil {
			return nil, fmt.Errorf("adding the look at namespaces: %w", err)
		}
	}
	if err := r.addRounds(mgr); err != nil {
		return nil, err
	}
	options.Instruments.Metrics.Sets(1, 0) // The built-in one, until there is a look at others.
	// Asked for now, the workloads count among what the cache has to hold before
	// the operator is ready.
	for _, kind := range workload.Kinds() {
		if _, err := mgr.GetCache().GetInformer(ctx, kind.New(), cache.BlockUntilSynced(false)); err != nil {
			return nil, fmt.Errorf("watching %s: %w", kind.Plural, err)
		}
	}
	builder := ctrl.NewControllerManagedBy(mgr).
		For(&v1alpha1.VectorSidecar{}, ownChanges()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: options.Concurrency,
			// The check is for two loops of one name in a process; tests run
			// one operator after the other.
			SkipNameValidation: ptr.To(true),
			RateLimiter:        newRetries(),
			// Who stands by has read the world before it leads.
			EnableWarmup:          ptr.To(true),
			ReconciliationTimeout: passTimeout,
		}).
		WithLogConstructor(loggerOf(mgr.GetLogger()))
	if options.ValidationJobs {
		builder = builder.Owns(&batchv1.Job{})
	}
	if err := r.addWatches(builder, mgr.GetCache()).Complete(r); err != nil {
		return nil, err
	}
	return r, nil
}

// addRounds adds what is done from time to time.
func (r *Reconciler) addRounds(mgr ctrl.Manager) error {
	log := loggerOf(mgr.GetLogger())(nil)
	r.sweeper, r.auditor = newSweeper(r, log), newAuditor(r, log)
	if err := mgr.Add(r.sweeper); err != nil {
		return fmt.Errorf("adding the look for leftovers: %w", err)
	}
	if err := mgr.Add(r.auditor); err != nil {
		return fmt.Errorf("adding the comparison with the live workloads: %w", err)
	}
	if r.options.ReconcileInterval == 0 {
		return nil
	}
	if err := mgr.Add(rejudger{r}); err != nil {
		return fmt.Errorf("adding the regular judging: %w", err)
	}
	return nil
}

// Alive returns an error for as long as the loop is stuck.
func (r *Reconciler) Alive() error { return r.pulse.check(r.now()) }

// loggerOf gives the lines of a pass the keys by which people search.
func loggerOf(base logr.Logger) func(*reconcile.Request) logr.Logger {
	base = base.WithValues(telemetry.KeyController, "vectorsidecar")
	return func(request *reconcile.Request) logr.Logger {
		if request == nil {
			return base
		}
		return base.WithValues(telemetry.KeyNamespace, request.Namespace, telemetry.KeyName, request.Name)
	}
}

// Reconcile is one pass for one VectorSidecar, observed.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	ctx, whole := r.beginPass(ctx, request.NamespacedName)
	what := telemetry.ResultFailed
	defer func() { r.endPass(&whole, what, err, recover()) }()
	result, what, err = r.pass(ctx, request, whole.span)
	if err != nil && isStopping(ctx) {
		log.FromContext(ctx).V(1).Info("pass cut short by the stop", "cause", err.Error())
		return reconcile.Result{}, nil
	}
	if errors.Is(err, apply.ErrStale) || errors.Is(err, election.ErrNotLeading) {
		log.FromContext(ctx).V(1).Info("pass overtaken, trying again", "cause", err.Error())
		return reconcile.Result{RequeueAfter: staleRetry}, nil
	}
	return result, err
}

// pass is one pass for one VectorSidecar. It also says what came of it, for
// metrics.
func (r *Reconciler) pass(ctx context.Context, request reconcile.Request, span telemetry.Span) (reconcile.Result, string, error) {
	sidecar := &v1alpha1.VectorSidecar{}
	if err := r.client.Get(ctx, request.NamespacedName, sidecar); err != nil {
		if client.IgnoreNotFound(err) == nil {
			r.forget(request.NamespacedName)
		}
		return reconcile.Result{}, telemetry.ResultUnchanged, client.IgnoreNotFound(err)
	}
	sidecar, err := r.deleted(ctx, sidecar)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	if sidecar == nil {
		return reconcile.Result{}, telemetry.ResultUnchanged, nil
	}
	if err := r.collectVerdicts(ctx, sidecar); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("reading what Vector said: %w", err)
	}
	known := r.memory.Of(request.NamespacedName)
	sidecar.Status = *known.Status(sidecar)
	taken, err := r.observe(ctx, sidecar)
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("observing: %w", err)
	}
	asking := r.asking(sidecar)
	decided, err := r.decide(ctx, taken, asking != "" || known.IsResyncDue())
	if err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, fmt.Errorf("deciding: %w", err)
	}
	ctx = log.IntoContext(ctx, log.FromContext(ctx).WithValues(telemetry.KeyEnvironment, decided.Environment))
	span.Set(telemetry.AttributeEnvironment, decided.Environment)
	span.Count(telemetry.AttributeMatched, decided.Matched)
	r.contents.forget(known.KeepReferences(decided.ConfigMaps()))
	known.Adopt(decided.Taken)
	return r.carryOut(ctx, sidecar, decided, asking)
}

// carryOut is the rest of a pass, which writes.
func (r *Reconciler) carryOut(ctx context.Context, sidecar *v1alpha1.VectorSidecar, decided *decision.Decision, asking string) (reconcile.Result, string, error) {
	if err := r.holdBeforeWriting(ctx, sidecar, decided); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	outcome := r.act(ctx, sidecar, decided)
	outcome.asking = asking
	if err := outcome.retry(); errors.Is(err, election.ErrNotLeading) {
		return reconcile.Result{}, telemetry.ResultFailed, err // It is for the leader to tell.
	}
	r.askVector(ctx, sidecar, decided, outcome)
	if err := r.tell(ctx, sidecar, decided, outcome); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	// What was left undone for want of time is for another pass.
	if err := errors.Join(outcome.retry(), ctx.Err()); err != nil {
		return reconcile.Result{}, telemetry.ResultFailed, err
	}
	if sidecar.DeletionTimestamp != nil {
		result, err := r.release(ctx, sidecar)
		return result, outcome.name(sidecar), err
	}
	return reconcile.Result{RequeueAfter: r.lookAgain(r.memory.Of(client.ObjectKeyFromObject(sidecar)), decided, outcome)}, outcome.name(sidecar), nil
}

// decide has the snapshot judged, with nothing remembered if it is to be judged anew.
func (r *Reconciler) decide(ctx context.Context, taken *evaluate.Snapshot, isAnew bool) (decided *decision.Decision, err error) {
	ctx, planning := r.begin(ctx, "plan")
	defer func() { planning.end(err) }()
	taken.Observer = r.observeStep
	known := r.memory.Of(client.ObjectKeyFromObject(taken.Sidecar))
	if !isAnew {
		taken.Previous = known.Previous()
		if decided, err = source.Decide(ctx, taken, noted{r, known}, r.cache); err == nil {
			known.SetPrevious(decided.Previous)
		}
		return decided, err
	}
	fresh := desired.NewCache()
	if decided, err = source.Decide(ctx, taken, noted{r, known}, fresh); err == nil {
		r.cache.Adopt(fresh)
		known.SetPrevious(decided.Previous)
		known.Resynced()
		r.Metrics.JudgedAnew(decided.Writes())
	}
	return decided, err
}

// lookAgain is when to look again although no event may come: a break in a repair
// loop ends by itself, and so does a soak, what refused a write may be lifted, pods are
// not watched, and a watch may stay behind. 0 is never.
func (r *Reconciler) lookAgain(known *state.Sidecar, decided *decision.Decision, result *outcome) time.Duration {
	_, wait := known.Loops()
	if len(result.failures) > 0 || decided.Late {
		wait = sooner(wait, state.LastRetry)
	}
	wait = sooner(sooner(wait, decided.Again), known.NextPodLook())
	return sooner(sooner(wait, result.missed), sooner(result.lookAgain, result.statusWait))
}

// sooner is the shorter of two waits, of which 0 is never.
func sooner(a, b time.Duration) time.Duration {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// forget drops what is remembered of a VectorSidecar that is gone.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.contents.forget(r.memory.Forget(name))
	r.sweeper.wake()
	r.auditor.forget(name)
	r.Metrics.Forget(name)
}
