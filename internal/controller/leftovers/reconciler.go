// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package leftovers cleans up after VectorSidecars that do not exist. The input is the sidecars and companion ConfigMaps in
// the cache, confirmed by the API server; the output is removals, events and metrics.
package leftovers

import (
	"context"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/companionuse"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// interval is the approximate interval of cleanups without a request.
	interval = 30 * time.Minute
	// retry is the delay of the next cleanup if the removal of a leftover waits.
	retry = 10 * time.Second
)

// Options are the dependencies of a Reconciler. All fields except WrittenBy are required.
type Options struct {
	Cached    client.Reader
	Sidecars  *sidecarcache.Lister
	Live      *livelist.Client
	Workloads *workloadcache.Cache
	Writer    *apply.Writer
	// Uses finds the companions that a workload can be rolled back to.
	Uses     *companionuse.Tracker
	Signal   *Signal
	Backoff  *state.Backoff
	Recorder *events.Recorder
	Metrics  *telemetry.Metrics
	Clock    func() time.Time
	// WrittenBy is NAMESPACE/NAME of this installation, which marks its writes. If it is empty, no leftover sidecar is
	// removed.
	WrittenBy string
}

// Reconciler removes leftover sidecars and unreferenced companions. It runs on the leader only.
type Reconciler struct {
	Options

	// reported has the leftovers of the last cleanup. rollingOut has the workloads that roll out after a removal.
	reported   map[leftover]companion.LeftoverAction
	rollingOut map[types.UID]cleanedWorkload
	// namespaces has the namespaces in which the last cleanup found unreferenced companions.
	namespaces map[string]bool
}

// leftover identifies a leftover sidecar.
type leftover struct {
	workload types.UID
	manager  string
}

// progress is the result of a cleanup. A larger value takes precedence.
type progress int

const (
	finished progress = iota
	// waiting means that the next removals wait for rollouts.
	waiting
	// failing means that a request failed or that a removal is blocked.
	failing
)

// New returns a Reconciler without reported leftovers.
func New(options Options) *Reconciler {
	for _, action := range companion.LeftoverActions() {
		options.Metrics.SetLeftovers(string(action), 0)
	}
	return &Reconciler{
		Options: options, reported: map[leftover]companion.LeftoverAction{}, rollingOut: map[types.UID]cleanedWorkload{}, namespaces: map[string]bool{},
	}
}

// Reconcile makes one cleanup. The Signal wakes it at the start, after the deletion of a VectorSidecar, for a workload with
// a sidecar of an unknown VectorSidecar, and after a list of revisions. It reads workloads, companions, VectorSidecars and
// ClusterVectorSidecars from the cache, and reads all of them again from the API server before a removal. It removes
// sidecars from workloads and deletes companions, and writes events and metrics.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	if !r.Workloads.IsSynced() {
		return reconcile.Result{RequeueAfter: delay / 10}, nil
	}
	leftovers, sidecarProgress := r.cleanSidecars(ctx)
	r.reportLeftovers(ctx, leftovers)
	result := max(sidecarProgress, r.deleteCompanions(ctx))
	if result == failing {
		return reconcile.Result{RequeueAfter: r.Backoff.Next(state.RetryLeftovers, key.Name)}, nil
	}
	r.Backoff.Reset(state.RetryLeftovers, key.Name)
	if result == waiting {
		return reconcile.Result{RequeueAfter: retry}, nil
	}
	return reconcile.Result{RequeueAfter: wait.Jitter(interval, 0.2)}, nil
}

// SetupWithManager adds the Reconciler to a manager. The first cleanup starts at once. Reconciles also end with the context.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	r.Signal.notifier.Notify(key)
	return ctrl.NewControllerManagedBy(mgr).Named(key.Name).
		WithOptions(controller.Options{SkipNameValidation: new(true)}). // Tests run one operator after another.
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return telemetry.ControllerLogger(mgr.GetLogger()) }).
		WatchesRawSource(r.Signal.notifier.Source()).
		Complete(shutdown.StopReconciles(ctx, r))
}

// reportLeftovers sets the metrics of leftovers. For each leftover that a user must check, it logs and emits an
// event, but only once.
func (r *Reconciler) reportLeftovers(ctx context.Context, leftovers []companion.Leftover) {
	counts, reported := map[companion.LeftoverAction]int{}, map[leftover]companion.LeftoverAction{}
	for i := range leftovers {
		item := &leftovers[i]
		id := leftover{item.UID, item.Manager}
		counts[item.Action]++
		reported[id] = item.Action
		if item.Action != companion.Report || r.reported[id] == item.Action {
			continue
		}
		log.FromContext(ctx).Info("found leftover sidecar", telemetry.KeyWorkload, status.WorkloadTitle(item.Ref), telemetry.KeyName, item.Sidecar, "cause", item.Reason)
		r.Recorder.Eventf(events.Reference(item.Ref), nil, corev1.EventTypeWarning, meta.ReasonLeftoverFound, string(plan.None),
			"found fields of the sidecar of %s, which does not exist: %s", meta.Title(item.Sidecar), item.Reason)
	}
	r.reported = reported
	r.Signal.hasFound.Store(len(reported) > 0)
	for _, action := range companion.LeftoverActions() {
		r.Metrics.SetLeftovers(string(action), counts[action])
	}
}
