// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/internal/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/humanize"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// platform is what the platform team gives now, from the cache. What has changed is
// told once, whoever asks first.
func (r *Reconciler) platform(ctx context.Context) (*catalog.Platform, error) {
	installation := &corev1.ConfigMap{}
	var sets corev1.ConfigMapList
	if name := r.options.Installation; name.Name != "" {
		if err := client.IgnoreNotFound(r.client.Get(ctx, name, installation)); err != nil {
			return nil, fmt.Errorf("reading ConfigMap %s: %w", name, err)
		}
		installation.Namespace, installation.Name = name.Namespace, name.Name
	}
	if r.options.Namespace != "" {
		if err := r.client.List(ctx, &sets, client.InNamespace(r.options.Namespace), client.HasLabels{meta.LabelTemplateSet}, client.UnsafeDisableDeepCopy); err != nil {
			return nil, fmt.Errorf("listing template sets: %w", err)
		}
	}
	now, changes := r.catalogue.Update(installation, sets.Items)
	for _, change := range changes {
		r.tellPlatform(ctx, change)
	}
	r.Metrics.Sets(count(now))
	return now, nil
}

// count counts the template sets that are in use as they are, and the others.
func count(now *catalog.Platform) (good, broken int) {
	for _, set := range now.Sets() {
		if set.Err != nil {
			broken++
			continue
		}
		good++
	}
	return good, broken
}

// tellPlatform writes an event about what a platform team has changed.
func (r *Reconciler) tellPlatform(ctx context.Context, change catalog.Change) {
	object := change.Object
	reasons := map[bool][2]string{
		false: {meta.ReasonTemplateSetLoaded, meta.ReasonInvalidTemplateSet},
		true:  {meta.ReasonPolicyLoaded, meta.ReasonInvalidPolicy},
	}[client.ObjectKeyFromObject(object) == r.options.Installation]
	if change.Err == nil {
		log.FromContext(ctx).Info("platform changed", "what", change.What, "configMap", client.ObjectKeyFromObject(object))
		r.events.Eventf(object, nil, corev1.EventTypeNormal, reasons[0], "Load", "%s is in use", change.What)
		return
	}
	log.FromContext(ctx).Error(change.Err, "platform change refused", "what", change.What)
	r.events.Eventf(object, nil, corev1.EventTypeWarning, reasons[1], "Load", "%s", humanize.Message(change.Err.Error(), noteLimit))
}

// sidecarsOfPlatform are all VectorSidecars if a ConfigMap is one of the platform's:
// which set each uses may itself have changed with it.
func (r *Reconciler) sidecarsOfPlatform(ctx context.Context, object client.Object) []reconcile.Request {
	_, isSet := object.GetLabels()[meta.LabelTemplateSet]
	isOurs := client.ObjectKeyFromObject(object) == r.options.Installation || isSet && object.GetNamespace() == r.options.Namespace
	if !isOurs {
		return nil
	}
	// Told now, also when no VectorSidecar asks.
	if _, err := r.platform(ctx); err != nil {
		log.FromContext(ctx).Error(err, "reading what the platform gives")
	}
	return requests(keysOf(r.list(ctx, "", "", "")))
}
