// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"
	"sync/atomic"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// catalogReader reads the platform's template sets, policy and pace from the cache.
type catalogReader struct {
	client  client.Reader
	catalog *desired.Catalog
	options *Options
	events  *announcer
	metrics *telemetry.Metrics
	history *history
	// publisher records in the operator's namespace what this reader has returned last.
	publisher *publisher
	// last is what was returned last: a pass that is writing sees by it a stop that came after
	// the pass began.
	last atomic.Pointer[desired.Platform]
}

// isStopped reports whether all writes but removals were stopped when anybody last looked.
func (c *catalogReader) isStopped() bool {
	last := c.last.Load()
	return last != nil && last.Stopped
}

// rules are the pace of rollouts when anybody last looked.
func (c *catalogReader) rules() *fleet.Rules {
	if last := c.last.Load(); last != nil {
		return last.Rollout
	}
	return nil
}

// current returns the platform's present state, from the cache. A change is announced once, by
// whichever caller sees it first.
func (c *catalogReader) current(ctx context.Context) (*desired.Platform, error) {
	installation := &corev1.ConfigMap{}
	var sets corev1.ConfigMapList
	if name := c.options.Installation; name.Name != "" {
		if err := client.IgnoreNotFound(c.client.Get(ctx, name, installation)); err != nil {
			return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
		}
		installation.Namespace, installation.Name = name.Namespace, name.Name
	}
	if c.options.Namespace != "" {
		if err := c.client.List(ctx, &sets, client.InNamespace(c.options.Namespace), client.HasLabels{meta.LabelTemplateSet}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing template sets: %w", err)
		}
	}
	now, changes := c.catalog.Update(installation, sets.Items)
	if c.last.Load() == nil && now.LacksGood() {
		isRestored, err := c.history.restore(ctx, now)
		if err != nil {
			return nil, fmt.Errorf("reading the last good template sets and policy: %w", err)
		}
		if isRestored {
			now, _ = c.catalog.Update(installation, sets.Items)
		}
	}
	for _, change := range changes {
		c.announce(ctx, change)
	}
	before := c.last.Swap(now)
	if before == nil {
		before = &desired.Platform{}
	}
	if now.Stopped != before.Stopped {
		log.FromContext(ctx).Info("stop of writes changed", "stopped", now.Stopped, "configMap", c.options.Installation)
	}
	if now.Rollout.SidecarRestarts() > 0 && before.Rollout.SidecarRestarts() == 0 && !c.options.ReadPods {
		telemetry.Warn(log.FromContext(ctx), "restarts of sidecars are not seen: rollout.halt.sidecarRestarts needs rbac.optional.pods")
	}
	c.metrics.Sets(count(now))
	return now, nil
}

// publish records a platform that current has returned, before a VectorSidecar starts its revision. The error is
// apply.ErrStale if there is a later one, and an *unstoredError if the record could not be written.
func (c *catalogReader) publish(ctx context.Context, now *desired.Platform) error {
	if c.last.Load() != now {
		return fmt.Errorf("publishing revision %s: %w", now.Revision, apply.ErrStale)
	}
	return c.publisher.record(ctx, now)
}

// at returns a function for the platform with an earlier revision.
func (c *catalogReader) at(now *desired.Platform) func(context.Context, string) (*desired.Platform, error) {
	return func(ctx context.Context, revision string) (*desired.Platform, error) {
		return c.history.at(ctx, revision, now)
	}
}

// count returns how many template sets are valid and how many are not.
func count(now *desired.Platform) (good, broken int) {
	for _, set := range now.Sets() {
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
		log.FromContext(ctx).Info("platform changed", "what", change.What, "configMap", client.ObjectKeyFromObject(object))
		c.events.Eventf(object, nil, corev1.EventTypeNormal, reasons[0], "Load", "%s is in use", change.What)
		return
	}
	log.FromContext(ctx).Error(change.Err, "platform change refused", "what", change.What)
	c.events.Eventf(object, nil, corev1.EventTypeWarning, reasons[1], "Load", "%s", humanize.Message(change.Err.Error(), noteLimit))
}
