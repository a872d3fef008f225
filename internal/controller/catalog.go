// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// catalogReader reads the platform's template sets, policy and rollout rules from the cache.
type catalogReader struct {
	client  client.Reader
	catalog *desired.Catalog
	options *Options
	events  *announcer
	metrics *telemetry.Metrics
	history *history
	// publisher records in the operator namespace the platform that the catalogReader has returned last.
	publisher *publisher
	timer     *publishTimer

	// mu guards settling and settled. The last platform was created from settled.
	mu       sync.Mutex
	settling *desired.Settling
	settled  *desired.Settled
	// last is the platform that was returned last. It shows a reconcile that is writing whether writes have been
	// stopped after its start.
	last atomic.Pointer[desired.Platform]
}

// isStopped reports whether the platform that was returned last stops all writes except removals.
func (c *catalogReader) isStopped() bool {
	platform := c.last.Load()
	return platform != nil && platform.Stopped
}

// rules returns the rollout rules of the platform that was returned last.
func (c *catalogReader) rules() *fleet.Rules {
	if platform := c.last.Load(); platform != nil {
		return platform.Rollout
	}
	return nil
}

// current returns the platform that is published, from the cache. A change is announced once, by whichever caller sees it
// first.
func (c *catalogReader) current(ctx context.Context) (*desired.Platform, error) {
	configMaps, err := c.read(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	settled, err := c.settle(ctx, configMaps)
	if err != nil {
		return nil, err
	}
	if last := c.last.Load(); last != nil && settled == c.settled {
		return last, nil
	}
	platform, err := c.load(ctx, settled)
	if err != nil {
		return nil, err
	}
	c.settled = settled
	c.timer.set(c.settling.NextChange())
	if wait := settled.Wait; wait != nil {
		log.FromContext(ctx).Info("delaying publication", "cause", wait.Message)
	}
	previous := c.last.Swap(platform)
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
	return platform, nil
}

// publish records a platform that current has returned, before a VectorSidecar starts its revision. A draft is not
// recorded, because VectorSidecars do not start its revision. The error is apply.ErrStale if there is a later
// platform, and an *unstoredError if the record could not be written.
func (c *catalogReader) publish(ctx context.Context, platform *desired.Platform) error {
	if c.last.Load() != platform {
		return fmt.Errorf("publishing revision %s: %w", platform.Revision, apply.ErrStale)
	}
	if platform.Unpublished != "" {
		return nil
	}
	return c.publisher.record(ctx, platform)
}

// read reads the platform's ConfigMaps from the cache.
func (c *catalogReader) read(ctx context.Context) (configMaps desired.PlatformConfigMaps, err error) {
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
func (c *catalogReader) settle(ctx context.Context, configMaps desired.PlatformConfigMaps) (*desired.Settled, error) {
	settled := c.settling.Update(configMaps, c.options.Clock())
	if settled.Published == nil && c.last.Load() == nil {
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
func (c *catalogReader) load(ctx context.Context, settled *desired.Settled) (*desired.Platform, error) {
	published, wait := settled.Published, settled.Wait
	if published == nil {
		return c.catalog.Draft(wait), nil
	}
	platform, changes := c.catalog.Update(published.Installation, published.Sets)
	if c.last.Load() == nil && platform.LacksGood() {
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
func (c *catalogReader) at(current *desired.Platform) func(context.Context, string) (*desired.Platform, error) {
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
func (c *catalogReader) announce(ctx context.Context, change desired.PlatformChange) {
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
	c.events.Eventf(object, nil, corev1.EventTypeWarning, reasons[1], "Load", "%s", humanize.Message(change.Err.Error(), noteLimit))
}
