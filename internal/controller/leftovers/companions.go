// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package leftovers

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/internal/companion"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
)

// deleteCompanions deletes the companions that no VectorSidecar and no workload needs. Such a companion exists if a
// write was in progress while the VectorSidecar was deleted. The cache provides candidates, and the API server
// confirms them.
func (r *Reconciler) deleteCompanions(ctx context.Context) progress {
	unreferenced, err := r.unreferencedCompanions(ctx)
	if err != nil {
		log.FromContext(ctx).Error(err, "finding unreferenced companions")
		return failing
	}
	for namespace := range r.namespaces {
		if unreferenced[namespace] == nil {
			r.Uses.Forget(types.NamespacedName{Namespace: namespace})
		}
	}
	clear(r.namespaces)
	result := finished
	for namespace, names := range unreferenced {
		r.namespaces[namespace] = true
		if err := r.deleteCompanionsIn(ctx, namespace, names); err != nil {
			log.FromContext(ctx).Error(err, "deleting unreferenced companions", telemetry.KeyNamespace, namespace)
			result = failing
		}
	}
	return result
}

// unreferencedCompanions returns the names of the unreferenced companions in the cache, by namespace. The error is
// for a list that failed.
func (r *Reconciler) unreferencedCompanions(ctx context.Context) (map[string][]string, error) {
	existing := r.cachedOwners(ctx)
	var labeled corev1.ConfigMapList
	if err := r.Cached.List(ctx, &labeled, client.HasLabels{meta.LabelSidecar}, client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("listing companions: %w", err)
	}
	referenced := companion.NewOwners(r.carriers(), existing.sidecars, existing.clusters)
	unreferenced := map[string][]string{}
	for i := range labeled.Items {
		configMap := &labeled.Items[i]
		if !r.Sidecars.HasClusters() && meta.IsLabelOfCluster(configMap.Labels[meta.LabelSidecar]) {
			continue // An installation that enables the kind deletes them.
		}
		if referenced.IsUnreferenced(configMap, r.Clock()) {
			unreferenced[configMap.Namespace] = append(unreferenced[configMap.Namespace], configMap.Name)
		}
	}
	return unreferenced, nil
}

// deleteCompanionsIn deletes the named ConfigMaps of a namespace that are unreferenced according to the API server and that
// no revision refers to. If the use by revisions is still unknown, the Tracker wakes the Reconciler later.
func (r *Reconciler) deleteCompanionsIn(ctx context.Context, namespace string, names []string) error {
	unused, err := r.Uses.UnusedCompanions(types.NamespacedName{Namespace: namespace}, names, yieldNoWorkloads)
	if err != nil || len(unused) == 0 {
		return err
	}
	existing, err := r.liveOwners(ctx, namespace)
	if err != nil {
		return err
	}
	referenced := companion.NewOwners(r.carriers(), existing.sidecars, existing.clusters)
	for _, name := range unused {
		name := types.NamespacedName{Namespace: namespace, Name: name}
		live := &corev1.ConfigMap{}
		if err := r.Live.Get(ctx, name, live); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading ConfigMap %s: %w", name, err)
		} else if err != nil || !companion.IsOperatorOwned(live) || !referenced.IsUnreferenced(live, r.Clock()) {
			continue
		}
		if err := r.Writer.DeleteCompanion(ctx, name); err != nil {
			return err
		}
		log.FromContext(ctx).Info("deleted unreferenced companion", telemetry.KeyNamespace, namespace, "configMap", name.Name)
	}
	return nil
}

// yieldNoWorkloads is an empty sequence of workloads, for companions without a VectorSidecar.
func yieldNoWorkloads(func(types.UID) bool) {}
