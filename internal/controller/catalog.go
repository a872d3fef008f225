// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	ctrlbuilder "sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/events"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/shutdown"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// catalogReconciler loads the platform's template sets, values, policy and rollout rules from the cache, when one of its
// ConfigMaps changes and when changed ConfigMaps have been quiet for long enough. All other reconciles read the result.
// It runs on every replica, because a standby replica publishes the same content as the leader.
type catalogReconciler struct {
	client  client.Reader
	catalog *desired.Catalog
	options *Options
	events  *events.Recorder
	metrics *telemetry.Metrics
	history *history
	// publisher records the last loaded platform in the operator namespace.
	publisher *publisher
	// readers returns the keys that depend on the platform. notifier wakes them.
	readers  func(ctx context.Context) []types.NamespacedName
	notifier *notify.Notifier

	// settling and settled are used by Reconcile only. The last platform was created from settled.
	settling *desired.Settling
	settled  *desired.Settled
	// loaded is nil until the first load.
	loaded atomic.Pointer[loadedCatalog]
}

// loadedCatalog is the result of loading the platform.
type loadedCatalog struct {
	// platform is nil if it was never loaded. err then explains why.
	platform *desired.Platform
	err      error
}

// catalogKey is the only key of the controller of the catalog.
var catalogKey = types.NamespacedName{Name: "catalog"}

// errNotLoaded is the error of current before the first load.
var errNotLoaded = errors.New("the operator has not read the platform's ConfigMaps yet: try again in a moment")

// Reconcile loads the platform. If the platform has changed, it requests the reconciles that depend on it.
func (c *catalogReconciler) Reconcile(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
	isNew, err := c.reload(ctx)
	if err != nil {
		c.loaded.CompareAndSwap(nil, &loadedCatalog{err: err})
		return reconcile.Result{}, fmt.Errorf("reading the platform's ConfigMaps: %w", err)
	}
	if isNew {
		c.notifier.NotifyWithLowPriority(c.readers(ctx)...)
	}
	dueTime := c.settling.NextChange()
	if dueTime.IsZero() {
		return reconcile.Result{}, nil
	}
	return reconcile.Result{RequeueAfter: max(dueTime.Sub(c.options.Clock()), atOnce)}, nil
}

// setupWithManager adds the controller of the catalog to a manager. The first load does not need an event.
func (c *catalogReconciler) setupWithManager(ctx context.Context, mgr ctrl.Manager) error {
	platformEvents := handler.EnqueueRequestsFromMapFunc(func(_ context.Context, object client.Object) []reconcile.Request {
		if !c.isPlatform(object) {
			return nil
		}
		return requests([]types.NamespacedName{catalogKey})
	})
	firstLoad := &notify.Notifier{}
	firstLoad.Notify(catalogKey)
	return ctrl.NewControllerManagedBy(mgr).Named(catalogKey.Name).
		WithOptions(controller.Options{
			NeedLeaderElection: new(false),
			RateLimiter:        newRetries(),
			SkipNameValidation: new(true), // Tests run one operator after another.
		}).
		WithLogConstructor(func(*reconcile.Request) logr.Logger { return loggerOf(mgr.GetLogger())(nil) }). // The key does not name an object.
		Watches(&corev1.ConfigMap{}, platformEvents, ctrlbuilder.WithPredicates(configMapChanges())).
		WatchesRawSource(firstLoad.Source()).
		Complete(shutdown.StopReconciles(ctx, c))
}

// isPlatform reports whether a ConfigMap belongs to the platform.
func (c *catalogReconciler) isPlatform(configMap client.Object) bool {
	_, isSet := configMap.GetLabels()[meta.LabelTemplateSet]
	return client.ObjectKeyFromObject(configMap) == c.options.Installation || isSet && configMap.GetNamespace() == c.options.Namespace
}

// isLoaded reports whether the platform was loaded, or could not be loaded.
func (c *catalogReconciler) isLoaded() bool { return c.loaded.Load() != nil }

// current returns the published platform.
func (c *catalogReconciler) current() (*desired.Platform, error) {
	loaded := c.loaded.Load()
	if loaded == nil {
		return nil, errNotLoaded
	}
	return loaded.platform, loaded.err
}

// isStopped reports whether the published platform stops all writes except removals.
func (c *catalogReconciler) isStopped() bool {
	platform, _ := c.current()
	return platform != nil && platform.Stopped
}

// rules returns the rollout rules of the published platform, nil before the first load.
func (c *catalogReconciler) rules() *fleet.Rules {
	if platform, _ := c.current(); platform != nil {
		return platform.Rollout
	}
	return nil
}

// reload loads the platform again if its published ConfigMaps have changed, and reports whether they have.
func (c *catalogReconciler) reload(ctx context.Context) (isNew bool, err error) {
	configMaps, err := c.read(ctx)
	if err != nil {
		return false, err
	}
	settled, err := c.settle(ctx, configMaps)
	if err != nil {
		return false, err
	}
	previous, _ := c.current()
	if previous != nil && settled == c.settled {
		return false, nil
	}
	platform, err := c.load(ctx, settled)
	if err != nil {
		return false, err
	}
	c.settled = settled
	if wait := settled.Wait; wait != nil {
		log.FromContext(ctx).Info("delaying publication", "cause", wait.Message)
	}
	c.loaded.Store(&loadedCatalog{platform: platform})
	if previous == nil {
		previous = &desired.Platform{}
	}
	if platform.Stopped != previous.Stopped {
		log.FromContext(ctx).Info("changed stop-writes", "stopped", platform.Stopped, "configMap", c.options.Installation)
	}
	if platform.Rollout.CanHalt() && !previous.Rollout.CanHalt() && !c.options.ReadPods {
		telemetry.Warn(log.FromContext(ctx), "causes of failures are not seen: rollout.halt needs rbac.optional.pods")
	}
	c.metrics.SetWritesStopped(platform.Stopped)
	c.metrics.SetTemplateSets(count(platform))
	return true, nil
}

// publish records a published platform, before a VectorSidecar starts its revision. A draft is not
// recorded, because VectorSidecars do not start its revision. The error is apply.ErrStale if there is a later
// platform, and an *unstoredError if the record could not be written.
func (c *catalogReconciler) publish(ctx context.Context, platform *desired.Platform) error {
	if current, _ := c.current(); current != platform {
		return fmt.Errorf("publishing revision %s: %w", platform.Revision, apply.ErrStale)
	}
	if platform.Unpublished != "" {
		return nil
	}
	return c.publisher.record(ctx, platform)
}

// read reads the platform's ConfigMaps from the cache.
func (c *catalogReconciler) read(ctx context.Context) (configMaps desired.PlatformConfigMaps, err error) {
	configMaps.Installation = &corev1.ConfigMap{}
	if name := c.options.Installation; name.Name != "" {
		err := c.client.Get(ctx, name, configMaps.Installation)
		if configMaps.LacksInstallation = apierrors.IsNotFound(err); client.IgnoreNotFound(err) != nil {
			return configMaps, fmt.Errorf("reading ConfigMap %s: %w", name, err)
		}
		configMaps.Installation.Namespace, configMaps.Installation.Name = name.Namespace, name.Name
	}
	if c.options.Namespace == "" {
		return configMaps, nil
	}
	var sets corev1.ConfigMapList
	if err := c.client.List(ctx, &sets, client.InNamespace(c.options.Namespace), client.HasLabels{meta.LabelTemplateSet}, client.UnsafeDisableDeepCopy); err != nil {
		return configMaps, fmt.Errorf("listing template sets: %w", err)
	}
	configMaps.Sets = sets.Items
	return configMaps, nil
}

// settle returns the ConfigMaps that are published. If the ConfigMaps do not belong together when the process starts,
// settle restores the revision that was published last.
func (c *catalogReconciler) settle(ctx context.Context, configMaps desired.PlatformConfigMaps) (*desired.Settled, error) {
	settled := c.settling.Update(configMaps, c.options.Clock())
	if platform, _ := c.current(); settled.Published == nil && platform == nil {
		content, _, err := c.history.lastKnownGood(ctx, configMaps.Installation)
		if err != nil {
			return nil, fmt.Errorf("reading the last published revision: %w", err)
		}
		if content != nil {
			c.settling.Restore(content, configMaps)
			settled = c.settling.Update(configMaps, c.options.Clock())
		}
	}
	return settled, nil
}

// load creates the platform from the published ConfigMaps and announces its changes.
func (c *catalogReconciler) load(ctx context.Context, settled *desired.Settled) (*desired.Platform, error) {
	published, wait := settled.Published, settled.Wait
	if published == nil {
		return c.catalog.Draft(wait), nil
	}
	platform, changes := c.catalog.Update(published.Installation, published.Sets)
	if previous, _ := c.current(); previous == nil && platform.LacksGood() {
		content, rollout, err := c.history.lastKnownGood(ctx, published.Installation)
		if err != nil {
			return nil, fmt.Errorf("reading the last good template sets and policy: %w", err)
		}
		if c.catalog.Restore(content, rollout) {
			platform, _ = c.catalog.Update(published.Installation, published.Sets)
		}
	}
	for _, change := range changes {
		c.announce(ctx, change)
	}
	if wait != nil {
		platform = platform.Awaiting(wait)
	}
	return platform, nil
}

// at returns a function that returns the platform with an earlier revision.
func (c *catalogReconciler) at(current *desired.Platform) func(context.Context, string) (*desired.Platform, error) {
	return func(ctx context.Context, revision string) (*desired.Platform, error) {
		return c.history.at(ctx, revision, current)
	}
}

// count returns the numbers of valid and invalid template sets.
func count(platform *desired.Platform) (good, broken int) {
	for _, set := range platform.Sets() {
		if set.Err != nil {
			broken++
			continue
		}
		good++
	}
	return good, broken
}

// announce emits an event about a change of the platform's ConfigMaps.
func (c *catalogReconciler) announce(ctx context.Context, change desired.PlatformChange) {
	object := change.Object
	reasons := map[string][2]string{
		"":                 {meta.ReasonTemplateSetLoaded, meta.ReasonInvalidTemplateSet},
		desired.PolicyKey:  {meta.ReasonPolicyLoaded, meta.ReasonInvalidPolicy},
		desired.RolloutKey: {meta.ReasonRolloutLoaded, meta.ReasonInvalidRollout},
	}[change.Key]
	if change.Err == nil {
		log.FromContext(ctx).Info("platform changed", "what", change.Description, "configMap", client.ObjectKeyFromObject(object))
		c.events.Eventf(object, nil, corev1.EventTypeNormal, reasons[0], "Load", "%s is in use", change.Description)
		return
	}
	log.FromContext(ctx).Error(change.Err, "platform change refused", "what", change.Description)
	c.events.Eventf(object, nil, corev1.EventTypeWarning, reasons[1], "Load", "%s", humanize.Message(change.Err.Error(), events.NoteLimit))
}
