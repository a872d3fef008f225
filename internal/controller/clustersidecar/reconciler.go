// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package clustersidecar reconciles ClusterVectorSidecars. The input is a ClusterVectorSidecar and the reports of its
// namespaces, which are reconciled like VectorSidecars; the output is the reconciles of the namespaces, and the status.
package clustersidecar

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/instrument"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/schedule"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/slots"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/election"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// concurrency is the number of ClusterVectorSidecars that are reconciled concurrently.
const concurrency = 4

// Catalog publishes the platform and starts its revisions.
type Catalog interface {
	// IsReady reports whether the platform is loaded and its waves are checked.
	IsReady() bool
	// Current returns the published platform, nil with an error before it has been loaded.
	Current() (*desired.Platform, error)
	// Rules returns the rollout rules of the published platform.
	Rules() *fleet.Rules
	// StartRevision returns the next rollout state of a ClusterVectorSidecar in a wave.
	StartRevision(ctx context.Context, member fleet.WaveMember, lastStatus *v1alpha1.RolloutStatus, platform *desired.Platform) (*state.Rollout, error)
}

// PodAccess finds out whether the causes of failures can be read from pods.
type PodAccess interface {
	// BlindHalt explains why rollout.halt cannot detect the causes of failures in a namespace, or in any if the name is
	// "". It returns "" if rollout.halt can detect them, or is not set.
	BlindHalt(ctx context.Context, rules *fleet.Rules, namespace string) string
}

// Options are the dependencies of a Reconciler. All of them are required.
type Options struct {
	Workloads *workloadcache.Cache
	Sidecars  *sidecarcache.Lister
	Writer    *apply.Writer
	Recorder  *events.Recorder
	Observer  *instrument.Observer
	Catalog   Catalog
	Access    PodAccess
	// Clusters has the reports of the namespaces. Memory counts conflicts.
	Clusters *state.Clusters
	Memory   *state.Memory
	Waves    *state.Waves
	Slots    *slots.Scheduler
	// Notifier wakes all reconciles. Its ClusterScoped notifier wakes those of the Reconciler.
	Notifier *notify.Notifier
	// DefaultEnvironment is the environment of a ClusterVectorSidecar that has none.
	DefaultEnvironment string
	// Injects is true if the API server injects from OverlaySets.
	Injects bool
}

// Reconciler reconciles ClusterVectorSidecars. Each namespace has a reconcile of its own, so that a failing namespace does
// not block other namespaces, and an event causes the reconcile of one namespace only.
type Reconciler struct{ Options }

// New returns a Reconciler.
func New(options Options) *Reconciler { return &Reconciler{options} }

// Reconcile reconciles one ClusterVectorSidecar. A change of its spec or its annotations, the reports and the requests of
// its namespaces, and a change of its waves wake it. It reads the ClusterVectorSidecar, namespaces, workloads and
// ConfigMaps from the cache, and the reports. It adds and removes the finalizer, requests the reconciles of the
// namespaces, starts revisions in waves, and writes the status. No other reconcile writes that status.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (result reconcile.Result, err error) {
	if !r.Catalog.IsReady() {
		return reconcile.Result{RequeueAfter: state.FirstConflict}, nil
	}
	ctx, reconcileStep := r.Observer.StartReconcile(ctx, request.NamespacedName)
	label := telemetry.ResultFailed
	defer func() {
		if label == telemetry.ResultFailed { // No other VectorSidecar waits for this one, also after a panic.
			r.Slots.Withdraw(request.NamespacedName)
			r.Waves.RecordFailure(request.NamespacedName)
		}
		r.Observer.EndReconcile(&reconcileStep, label, err, recover())
	}()
	name, _ := meta.ParseClusterName(request.Name)
	result.RequeueAfter, err = r.reconcile(ctx, name)
	switch isConflict := errors.Is(err, apply.ErrStale) && r.Memory.IsConflictTransient(request.NamespacedName); {
	case err == nil:
		label = telemetry.ResultUnchanged
		r.Memory.ResetConflicts(request.NamespacedName)
		return result, nil
	case shutdown.IsStopping(ctx):
		log.FromContext(ctx).V(1).Info("reconcile stopped by shutdown", "cause", err.Error())
		return reconcile.Result{}, nil
	case isConflict:
		log.FromContext(ctx).V(1).Info("requeueing after conflict", "cause", err.Error())
		return reconcile.Result{RequeueAfter: r.Memory.RecordConflict(request.NamespacedName)}, nil
	case errors.Is(err, election.ErrNotLeading):
		return reconcile.Result{RequeueAfter: state.FirstConflict}, nil
	}
	r.reportError(ctx, name, err)
	return reconcile.Result{}, err
}

// SetupWithManager adds the Reconciler to a manager. Reconciles also end with the context.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	requests := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, cluster client.Object) []reconcile.Request {
		return []reconcile.Request{{NamespacedName: clusterwide.ClusterKey(cluster.GetName())}}
	})
	return ctrl.NewControllerManagedBy(mgr).Named("clustersidecar").
		Watches(&v1alpha1.ClusterVectorSidecar{}, requests, ctrlbuilder.WithPredicates(notify.SidecarChanges())).
		WatchesRawSource(r.Notifier.ClusterScoped.Source()).
		WithOptions(controller.Options{
			MaxConcurrentReconciles: concurrency,
			RateLimiter:             state.NewRateLimiter(),
			SkipNameValidation:      new(true), // Tests run one operator after another.
			EnableWarmup:            new(true), // Standby replicas sync caches before they are elected.
		}).
		WithLogConstructor(instrument.NewRequestLogger(mgr.GetLogger())).
		Complete(shutdown.StopReconciles(ctx, r))
}

// reconcile reconciles one ClusterVectorSidecar. It returns the time until the next reconcile without an event, or 0 for
// never.
func (r *Reconciler) reconcile(ctx context.Context, name string) (time.Duration, error) {
	cluster, err := r.Sidecars.Cluster(ctx, name)
	if err != nil {
		return 0, err
	}
	if cluster == nil {
		r.forget(name)
		return 0, nil
	}
	if cluster.DeletionTimestamp == nil {
		// Add the finalizer before the first write, because only the operator removes the sidecars again.
		if err := r.Writer.AddFinalizer(ctx, cluster); err != nil {
			return 0, err
		}
	}
	clusterState := r.Clusters.GetOrCreate(name)
	if err := r.revertSpec(ctx, cluster, clusterState); err != nil {
		return 0, err
	}
	isNew, isFirst, namespaces := clusterState.IsNew(cluster), false, map[string]bool{}
	if isNew {
		namespaces = r.affectedNamespaces(ctx, cluster, clusterState)
		isFirst = clusterState.Expect(cluster, namespaces)
		r.Slots.ExpectNamespaces(ctx, clusterwide.ClusterKey(name), keysIn(namespaces, name))
	}
	_, invalid := r.Sidecars.Selector(cluster)
	requeueAfter, err := r.advanceRollouts(ctx, cluster, clusterState, invalid != nil)
	r.notifyNamespaces(ctx, cluster, namespaces, !isFirst)
	if err != nil {
		return 0, fmt.Errorf("starting a revision of ClusterVectorSidecar %s: %w", cluster.Name, err)
	}
	if cluster.DeletionTimestamp != nil && clusterState.IsEmpty() {
		return 0, r.Writer.RemoveFinalizer(ctx, cluster)
	}
	specHistory, specRequeueAfter := r.keepSpecHistory(cluster, clusterState)
	if err := r.writeStatus(ctx, cluster, clusterState, specHistory, invalid); err != nil {
		return 0, err
	}
	if clusterState.HasAllReports() { // Before that, failures are not known, and all other VectorSidecars wait.
		r.Waves.Record(clusterwide.ClusterKey(name), state.WaveProgress{Generation: cluster.Generation, MaxAgeTimes: clusterState.MaxAgeTimes()})
	}
	return schedule.NextRequeue(requeueAfter, specRequeueAfter), nil
}

// affectedNamespaces returns the namespaces that a ClusterVectorSidecar selects, and the namespaces that may still
// have its objects or fields.
func (r *Reconciler) affectedNamespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *state.Cluster) map[string]bool {
	namespaces := clusterState.Namespaces()
	selector, _ := r.Sidecars.Selector(cluster)
	objects := r.Sidecars.Namespaces(ctx, "")
	for i := range objects {
		if selector.Selects(&objects[i]) {
			namespaces[objects[i].Name] = true
		}
	}
	manager := meta.Manager(meta.ClusterSidecarName(cluster.Name))
	for _, record := range r.Workloads.ListTraced() {
		if slices.ContainsFunc(record.Traces(), func(trace workload.Trace) bool { return trace.Manager == manager }) {
			namespaces[record.Namespace] = true
		}
	}
	for _, namespace := range r.Sidecars.NamespacesWithObjects(ctx, cluster.Name, r.Injects) {
		namespaces[namespace] = true
	}
	return namespaces
}

// notifyNamespaces requests the reconciles of namespaces. After a change, it also requests the reconciles of the
// VectorSidecars there, because they may match the same workloads. The start of the process is not a change.
func (r *Reconciler) notifyNamespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, namespaces map[string]bool, isChange bool) {
	for namespace := range namespaces {
		r.Notifier.Notify(clusterwide.KeyIn(namespace, cluster.Name))
		if isChange {
			r.Notifier.Notify(sidecarcache.Keys(r.Sidecars.ListIn(ctx, namespace))...)
		}
	}
}

// forget drops a deleted ClusterVectorSidecar, and requests the reconciles that drop it in its namespaces.
func (r *Reconciler) forget(name string) {
	key := clusterwide.ClusterKey(name)
	r.Sidecars.ForgetWritten(name)
	r.Slots.Forget(key)
	r.Waves.Forget(key)
	r.Observer.Metrics.Forget(key)
	r.Notifier.Notify(keysIn(r.Clusters.Drop(name), name)...)
}

// keysIn returns the keys of the reconciles of a ClusterVectorSidecar in namespaces.
func keysIn(namespaces map[string]bool, name string) (keys []types.NamespacedName) {
	for namespace := range namespaces {
		keys = append(keys, clusterwide.KeyIn(namespace, name))
	}
	return keys
}
