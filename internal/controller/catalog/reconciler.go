// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

// Package catalog loads the content that a platform team publishes: template sets, values, policy and rollout rules. It
// also stores the revisions of that content that VectorSidecars have. The input is the platform's ConfigMaps; the output
// is the published platform, which all other controllers read, and stored revisions.
package catalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/livelist"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// Reconciler loads the platform. It wakes when one of the platform's ConfigMaps changes, and when changed ConfigMaps
// have been quiet for long enough. It reads these ConfigMaps from the cache, and at startup the revision that was
// published last. It writes events. It publishes the platform to all controllers of the process, and requests the check
// of the waves and the reconciles that depend on it. It runs on every replica, because a standby replica publishes the
// same content as the leader.
type Reconciler struct {
	options   *Options
	revisions *revisions

	// settling and settled are used by Reconcile only. settled are the ConfigMaps from which the last platform was
	// created.
	settling *desired.Settling
	settled  *desired.Settled
	// loaded is nil until the first load.
	loaded atomic.Pointer[loadedCatalog]
}

// Options configure a Reconciler. All fields except Namespace and Installation are required.
type Options struct {
	Cached   client.Reader
	Live     *livelist.Client
	Writer   *apply.Writer
	Sidecars *sidecarcache.Lister
	Events   *events.Recorder
	Metrics  *telemetry.Metrics
	Backoff  *state.Backoff
	// Waves has the failures of revisions.
	Waves *state.Waves
	// Notifier requests the reconciles that depend on the platform.
	Notifier *notify.Notifier
	// Catalog turns the platform's ConfigMaps into template sets.
	Catalog *desired.Catalog
	// Namespace is the namespace of the template sets. It may be empty.
	Namespace string
	// Installation names the ConfigMap with the policy, the values and the rollout rules. It may be empty.
	Installation types.NamespacedName
	// Quiet is the time for which handwritten ConfigMaps must stay unchanged before they are published.
	Quiet time.Duration
	// ReadsPods is true if the causes of failures are read from pods.
	ReadsPods bool
	// Clock returns the time of the API server.
	Clock func() time.Time
}

// loadedCatalog is the result of loading the platform, or the platform of a stored revision.
type loadedCatalog struct {
	// platform is nil if it was never loaded or cannot be used. err then explains why.
	platform *desired.Platform
	err      error
}

// catalogKey is the only key of the controller.
var catalogKey = types.NamespacedName{Name: "catalog"}

// errNotLoaded is the error of Current before the first load.
var errNotLoaded = errors.New("the operator has not read the platform's ConfigMaps yet; retry in a few seconds")

// New returns a Reconciler that has not loaded the platform yet.
func New(options *Options) *Reconciler {
	return &Reconciler{options: options, revisions: newRevisions(options), settling: desired.NewSettling(options.Quiet)}
}

// Reconcile loads the platform. If the platform has changed, it requests the reconciles that depend on it.
func (r *Reconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	isNew, err := r.reload(ctx)
	if err != nil {
		r.loaded.CompareAndSwap(nil, &loadedCatalog{err: err})
		return reconcile.Result{}, fmt.Errorf("reading the platform's ConfigMaps: %w", err)
	}
	if isNew {
		r.options.Waves.Wake()
		r.options.Notifier.NotifyWithLowPriority(r.options.Sidecars.AllKeys(ctx)...)
	}
	dueTime := r.settling.NextChange()
	if dueTime.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(dueTime.Sub(r.options.Clock()), state.AtOnce)}, nil
}

// SetupWithManager adds the controller to a manager. The first load does not need an event.
func (r *Reconciler) SetupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	platformEvents := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if !r.isPlatform(object) {
			return nil
		}
		return []reconcile.Request{{NamespacedName: catalogKey}}
	})
	r.options.Metrics.SetTemplateSets(1, 0) // Count the built-in template set until the others are read.
	firstLoad := &notify.Notifier{}
	firstLoad.Notify(catalogKey)
	return ctrl.NewControllerManagedBy(mgr).Named(catalogKey.Name).
		WithOptions(controller.Options{
			NeedLeaderElection: new(false),
			RateLimiter:        state.NewRateLimiter(),
			SkipNameValidation: new(true), // Tests run one operator after another.
		}).
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return telemetry.ControllerLogger(mgr.GetLogger()) }). // The key does not name an object.
		Watches(&corev1.ConfigMap{}, platformEvents, ctrlbuilder.WithPredicates(platformChanges())).
		WatchesRawSource(firstLoad.Source()).
		Complete(shutdown.StopReconciles(ctx, r))
}

// isPlatform reports whether a ConfigMap belongs to the platform.
func (r *Reconciler) isPlatform(configMap client.Object) bool {
	_, isSet := configMap.GetLabels()[meta.LabelTemplateSet]
	return client.ObjectKeyFromObject(configMap) == r.options.Installation || isSet && configMap.GetNamespace() == r.options.Namespace
}

// isLoaded reports whether the first attempt to load the platform has ended, also with an error.
func (r *Reconciler) isLoaded() bool { return r.loaded.Load() != nil }

// Current returns the published platform. The error is errNotLoaded before the first load, or the error of that load.
func (r *Reconciler) Current() (*desired.Platform, error) {
	loaded := r.loaded.Load()
	if loaded == nil {
		return nil, errNotLoaded
	}
	return loaded.platform, loaded.err
}

// IsStopped reports whether the published platform stops all writes except removals.
func (r *Reconciler) IsStopped() bool {
	platform, _ := r.Current()
	return platform != nil && platform.Stop.IsActive()
}

// Rules returns the rollout rules of the published platform. Before the first load, they do not limit rollouts.
func (r *Reconciler) Rules() *fleet.Rules {
	if platform, _ := r.Current(); platform != nil {
		return platform.Target.Rules
	}
	return &fleet.Rules{}
}

// reload loads the platform again if the ConfigMaps to publish have changed. It reports whether the platform is new.
func (r *Reconciler) reload(ctx context.Context) (isNew bool, err error) {
	configMaps, err := r.readConfigMaps(ctx)
	if err != nil {
		return false, err
	}
	settled, err := r.selectSettled(ctx, configMaps)
	if err != nil {
		return false, err
	}
	previous, _ := r.Current()
	previousRules := r.Rules()
	if previous != nil && settled == r.settled {
		return false, nil
	}
	platform, err := r.loadPlatform(ctx, settled)
	if err != nil {
		return false, err
	}
	r.settled = settled
	if wait := settled.Wait; wait != nil {
		log.FromContext(ctx).Info("delaying publication", "cause", wait.Message)
	}
	r.loaded.Store(&loadedCatalog{platform: platform})
	if previous == nil {
		previous = &desired.Platform{}
	}
	if platform.Stop != previous.Stop {
		log.FromContext(ctx).Info("changed stop-writes", "stopped", platform.Stop.IsActive(), "configMap", r.options.Installation)
	}
	if platform.Target.Rules.CanHalt() && !previousRules.CanHalt() && !r.options.ReadsPods {
		telemetry.Warn(log.FromContext(ctx), "rollout.halt cannot detect causes of failures without rbac.optional.pods")
	}
	r.options.Metrics.SetWritesStopped(platform.Stop.IsActive())
	r.options.Metrics.SetTemplateSets(countTemplateSets(platform))
	return true, nil
}

// Tidy records the published revision, updates the marks of failed revisions, and deletes stored revisions that no
// VectorSidecar needs anymore. It returns the wait before the retry of a failed request, or 0 for never.
func (r *Reconciler) Tidy(ctx context.Context) (requeueAfter time.Duration) {
	platform, _ := r.Current()
	if platform == nil || platform.Unpublished != "" {
		return 0
	}
	errs := r.revisions.pruneRevisions(ctx, platform)
	if platform.Rollout.IsStaged() {
		errs = append(errs, r.revisions.ledger.updateMarks(ctx, &platform.Target))
	}
	for _, err := range errs {
		if unstored := (*UnstoredError)(nil); errors.As(err, &unstored) {
			wait := max(unstored.Until.Sub(r.options.Clock()), state.AtOnce)
			requeueAfter = min(wait, cmp.Or(requeueAfter, wait))
		}
	}
	return requeueAfter
}

// readConfigMaps reads the platform's ConfigMaps from the cache.
func (r *Reconciler) readConfigMaps(ctx context.Context) (configMaps desired.PlatformConfigMaps, err error) {
	configMaps.Installation = &corev1.ConfigMap{}
	if name := r.options.Installation; name.Name != "" {
		err := r.options.Cached.Get(ctx, name, configMaps.Installation)
		if configMaps.LacksInstallation = apierrors.IsNotFound(err); client.IgnoreNotFound(err) != nil {
			return configMaps, fmt.Errorf("reading ConfigMap %s: %w", name, err)
		}
		configMaps.Installation.Namespace, configMaps.Installation.Name = name.Namespace, name.Name
	}
	if r.options.Namespace == "" {
		return configMaps, nil
	}
	var sets corev1.ConfigMapList
	if err := r.options.Cached.List(ctx, &sets, client.InNamespace(r.options.Namespace), client.HasLabels{meta.LabelTemplateSet}, client.UnsafeDisableDeepCopy); err != nil {
		return configMaps, fmt.Errorf("listing template sets: %w", err)
	}
	configMaps.Sets = sets.Items
	return configMaps, nil
}

// selectSettled returns the ConfigMaps to publish. If the current ones do not belong together when the process
// starts, it restores the revision that was published last.
func (r *Reconciler) selectSettled(ctx context.Context, configMaps desired.PlatformConfigMaps) (*desired.Settled, error) {
	settled := r.settling.Update(configMaps, r.options.Clock())
	if platform, _ := r.Current(); settled.Published == nil && platform == nil {
		content, _, err := r.revisions.lastKnownGood(ctx, configMaps.Installation)
		if err != nil {
			return nil, fmt.Errorf("reading the last published revision: %w", err)
		}
		if content != nil {
			r.settling.Restore(content, configMaps)
			settled = r.settling.Update(configMaps, r.options.Clock())
		}
	}
	return settled, nil
}

// loadPlatform creates the platform from the ConfigMaps to publish, and announces the changes. If a part is invalid
// at the first load, its last known good version is used.
func (r *Reconciler) loadPlatform(ctx context.Context, settled *desired.Settled) (*desired.Platform, error) {
	published, wait := settled.Published, settled.Wait
	if published == nil {
		return r.options.Catalog.Draft(wait), nil
	}
	platform, changes := r.options.Catalog.Update(published.Installation, published.Sets)
	if previous, _ := r.Current(); previous == nil && platform.LacksValidVersion() {
		content, rollout, err := r.revisions.lastKnownGood(ctx, published.Installation)
		if err != nil {
			return nil, fmt.Errorf("reading the last known good template sets and policy: %w", err)
		}
		if r.options.Catalog.Restore(content, rollout) {
			platform, _ = r.options.Catalog.Update(published.Installation, published.Sets)
		}
	}
	for _, change := range changes {
		r.announceChange(ctx, change)
	}
	if wait != nil {
		platform = platform.Awaiting(wait)
	}
	return platform, nil
}

// PlatformAt returns a function that returns the platform with an earlier revision.
func (r *Reconciler) PlatformAt(current *desired.Platform) func(context.Context, string) (*desired.Platform, error) {
	return func(ctx context.Context, revision string) (*desired.Platform, error) {
		return r.revisions.platformAt(ctx, revision, current)
	}
}

// countTemplateSets returns the numbers of valid and invalid template sets.
func countTemplateSets(platform *desired.Platform) (good, broken int) {
	for _, set := range platform.Sets() {
		if set.Err != nil {
			broken++
			continue
		}
		good++
	}
	return good, broken
}

// announceChange logs a change of the platform's ConfigMaps, and emits an event about it.
func (r *Reconciler) announceChange(ctx context.Context, change desired.PlatformChange) {
	object := change.Object
	reasons := map[string][2]string{
		"":                 {meta.ReasonTemplateSetLoaded, meta.ReasonInvalidTemplateSet},
		desired.PolicyKey:  {meta.ReasonPolicyLoaded, meta.ReasonInvalidPolicy},
		desired.RolloutKey: {meta.ReasonRolloutLoaded, meta.ReasonInvalidRollout},
	}[change.Key]
	if change.Err == nil {
		log.FromContext(ctx).Info("loaded platform change", "change", change.Description, "configMap", client.ObjectKeyFromObject(object))
		r.options.Events.Eventf(object, nil, corev1.EventTypeNormal, reasons[0], "Load", "loaded %s", change.Description)
		return
	}
	log.FromContext(ctx).Error(change.Err, "rejected platform change", "change", change.Description)
	r.options.Events.Eventf(object, nil, corev1.EventTypeWarning, reasons[1], "Load", "%s", humanize.ShortenMessage(change.Err.Error(), events.NoteLimit))
}

// platformChanges selects the events of ConfigMaps that may change the platform.
func platformChanges() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, isOld := e.ObjectOld.(*corev1.ConfigMap)
		after, isNew := e.ObjectNew.(*corev1.ConfigMap)
		return !isOld || !isNew || companion.HasOtherContent(before, after) || requestAnnotations(before) != requestAnnotations(after) ||
			before.Labels[meta.LabelTemplateSet] != after.Labels[meta.LabelTemplateSet]
	}}
}

// requestAnnotations returns the values of the annotations with requests on the ConfigMap of values: stops of writes,
// retries, promotions and undos of rollouts, and the page about sidecars.
func requestAnnotations(object *corev1.ConfigMap) [6]string {
	annotations := object.Annotations
	return [6]string{annotations[meta.AnnotationAboutURL], annotations[meta.AnnotationStopWrites], annotations[meta.AnnotationWrites], annotations[meta.AnnotationRetryRollout], annotations[meta.AnnotationPromoteRollout], annotations[meta.AnnotationUndoRollout]}
}
