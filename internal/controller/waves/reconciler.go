// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package waves decides in which VectorSidecars a revision of the installation may start. The input is the statuses of all
// VectorSidecars; the output is a value that their reconciles read.
package waves

import (
	"context"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Catalog publishes the platform.
type Catalog interface {
	// Current returns the published platform, nil with an error before it has been loaded.
	Current() (*desired.Platform, error)
}

// Options are the dependencies of a Reconciler. All fields except Installation are required.
type Options struct {
	Sidecars *sidecarcache.Lister
	Catalog  Catalog
	// NamespaceLabels returns the labels of a namespace.
	NamespaceLabels func(ctx context.Context, namespace string) (map[string]string, error)
	Memory          *state.Memory
	Waves           *state.Waves
	// Notifier wakes the reconciles of VectorSidecars.
	Notifier *notify.Notifier
	Events   *events.Recorder
	Metrics  *telemetry.Metrics
	// Installation names the ConfigMap with the rules of the waves. DefaultEnvironment is the environment of
	// VectorSidecars that do not have one.
	Installation       types.NamespacedName
	DefaultEnvironment string
}

// Reconciler publishes the waves. It runs on the leader only.
type Reconciler struct {
	Options

	// unreported are the VectorSidecars that existed when the waves were first checked, and that this process has not
	// reconciled yet. It is nil before the first check.
	unreported map[types.NamespacedName]bool
	// isHalted is true if the last published waves were halted.
	isHalted bool
}

// New returns a Reconciler that has not checked the waves yet.
func New(options Options) *Reconciler {
	r := &Reconciler{Options: options}
	r.disable()
	return r
}

// Reconcile checks the waves of the target revision. A new platform, and the progress and the deletion of a VectorSidecar or
// ClusterVectorSidecar wake it. It reads the platform, VectorSidecars, ClusterVectorSidecars and namespaces from the
// cache, and the progress that is not in a status yet. It publishes the waves, and wakes the VectorSidecars that may start
// or that must stop. It writes metrics, and an event when the revision is halted.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	platform, _ := r.Catalog.Current()
	if platform == nil || !platform.Rollout.IsStaged() {
		r.disable()
		return reconcile.Result{}, nil
	}
	// Progress is read before the statuses, because an earlier status must not count as the status of a reconcile.
	members := &memberReader{options: &r.Options, platform: platform, progress: r.Waves.Progress(), labels: map[string]map[string]string{}}
	members.addSidecars(ctx)
	members.addClusters(ctx)
	r.updateUnreported(members)
	waves := fleet.NewWaves(&platform.Target, members.statuses, len(r.unreported) == 0 && members.err == nil)
	previous := r.Waves.Publish(waves)
	r.Metrics.SetWaves(waves.Count(), waves.IsHalted())
	if waves.IsHalted() && !r.isHalted {
		r.announceHalt(platform.Target.Revision)
	}
	r.isHalted = waves.IsHalted()
	r.Notifier.Notify(waves.AffectedSince(previous)...)
	return reconcile.Result{}, members.err
}

// SetupWithManager adds the Reconciler to a manager. Reconciles also end with the context.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	r.Waves.Wake() // The platform may have been loaded before this replica became the leader.
	return ctrl.NewControllerManagedBy(mgr).Named("waves").
		WithOptions(controller.Options{
			RateLimiter:        state.NewRateLimiter(),
			SkipNameValidation: new(true), // Tests run one operator after another.
		}).
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return telemetry.ControllerLogger(mgr.GetLogger()) }).
		WatchesRawSource(r.Waves.Source()).
		Complete(shutdown.StopReconciles(ctx, r))
}

// disable drops the waves of an installation that does not use them anymore.
func (r *Reconciler) disable() {
	r.Waves.Disable()
	r.unreported, r.isHalted = nil, false
	r.Metrics.SetWaves([]fleet.WaveCount{{Wave: fleet.DefaultWave}}, false)
}

// updateUnreported removes the VectorSidecars that this process has reconciled, or that do not exist anymore. The first
// call adds all existing ones.
func (r *Reconciler) updateUnreported(members *memberReader) {
	unreported := map[types.NamespacedName]bool{}
	for _, name := range members.names {
		_, isReported := members.progress[name]
		if !isReported && (r.unreported == nil || r.unreported[name]) {
			unreported[name] = true
		}
	}
	r.unreported = unreported
}

// announceHalt emits an event on the ConfigMap of the installation.
func (r *Reconciler) announceHalt(revision string) {
	installation := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: r.Installation.Namespace, Name: r.Installation.Name}}
	r.Events.Eventf(installation, nil, corev1.EventTypeWarning, meta.ReasonRolloutHalted, "Halt",
		"revision %s is halted, because workloads failed with it (rollout.halt): kubectl vectorsidecar rollout status", revision)
}
