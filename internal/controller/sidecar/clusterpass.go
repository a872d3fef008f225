// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/overlayset"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
	"kontroloop.ai/vector-sidecar-operator/internal/telemetry"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// reconcileCluster reconciles one ClusterVectorSidecar. It returns the time until the next reconcile without an
// event, or 0 for never.
func (c *clusters) reconcileCluster(ctx context.Context, name string, rollouts *rolloutTracker) (time.Duration, error) {
	cluster, err := c.sidecars.Cluster(ctx, name)
	if err != nil {
		return 0, err
	}
	if cluster == nil {
		c.forget(name)
		return 0, nil
	}
	if cluster.DeletionTimestamp == nil {
		// Add the finalizer before the first write, because only the operator removes the sidecars again.
		if err := c.writer.AddFinalizer(ctx, cluster); err != nil {
			return 0, err
		}
	}
	clusterState := c.getOrCreate(name)
	if err := c.revertSpec(ctx, cluster, clusterState); err != nil {
		return 0, err
	}
	isNew, namespaces := clusterState.isNew(cluster), map[string]bool{}
	if isNew {
		namespaces = c.affectedNamespaces(ctx, cluster, clusterState)
		clusterState.expect(cluster, namespaces)
		c.slots.expectNamespaces(ctx, name, namespaces)
	}
	_, invalid := c.sidecars.Selector(cluster)
	requeueAfter, err := c.advanceRollouts(ctx, rollouts, cluster, clusterState, invalid != nil)
	if isNew {
		c.notifyNamespaces(ctx, cluster, namespaces, clusterState.isSpread)
		clusterState.isSpread = true
	}
	if err != nil {
		return 0, fmt.Errorf("starting a revision of ClusterVectorSidecar %s: %w", cluster.Name, err)
	}
	if cluster.DeletionTimestamp != nil && clusterState.isEmpty() {
		return 0, c.writer.RemoveFinalizer(ctx, cluster)
	}
	specHistory, specRequeueAfter := c.keepSpecHistory(rollouts, cluster, clusterState)
	requeueAfter = nextRequeue(requeueAfter, specRequeueAfter)
	if err := c.writeStatus(ctx, cluster, clusterState, specHistory, invalid, rollouts.access.BlindHalt(ctx, rollouts.catalog.Rules(), "")); err != nil {
		return requeueAfter, err
	}
	if clusterState.hasAllReports() { // Before that, failures are not known, and all other VectorSidecars wait.
		c.waves.Record(sidecarcache.ClusterKey(name), state.WaveProgress{Generation: cluster.Generation, MaxAgeTimes: clusterState.maxAgeTimes()})
	}
	return requeueAfter, nil
}

// affectedNamespaces returns the namespaces that a ClusterVectorSidecar selects, and the namespaces that may still
// have its objects or fields.
func (c *clusters) affectedNamespaces(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *cachedCluster) map[string]bool {
	namespaces := clusterState.namespaces()
	selector, _ := c.sidecars.Selector(cluster)
	objects := c.sidecars.Namespaces(ctx, "")
	for i := range objects {
		if selector.Selects(&objects[i]) {
			namespaces[objects[i].Name] = true
		}
	}
	manager := meta.Manager(meta.InNamespace(cluster.Name))
	for _, record := range c.workloads.ListTraced() {
		if slices.ContainsFunc(record.Traces(), func(trace workload.Trace) bool { return trace.Manager == manager }) {
			namespaces[record.Namespace] = true
		}
	}
	var companions corev1.ConfigMapList
	label := client.MatchingLabels{meta.LabelSidecar: meta.LabelValue(meta.InNamespace(cluster.Name))}
	if err := c.client.List(ctx, &companions, label, client.UnsafeDisableDeepCopy); err != nil {
		log.FromContext(ctx).Error(err, "listing companions")
	}
	for i := range companions.Items {
		namespaces[companions.Items[i].Namespace] = true
	}
	if c.injects {
		injecting, err := overlayset.ListNamespaces(ctx, c.client, meta.InNamespace(cluster.Name))
		if err != nil {
			log.FromContext(ctx).Error(err, "finding the namespaces of a ClusterVectorSidecar")
		}
		for _, namespace := range injecting {
			namespaces[namespace] = true
		}
	}
	return namespaces
}

// writeStatus writes the status if it has changed. For an unchanged generation, it first waits until all namespaces
// have reported, for example after a start of the operator. If the selector is invalid, the status has the reason.
func (c *clusters) writeStatus(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *cachedCluster, specHistory lastgood.SpecStatus, invalid error, blindHalt string) error {
	facts := clusterState.facts(cluster)
	facts.SpecStatus, facts.BlindHalt = specHistory, blindHalt
	if invalid != nil && cluster.DeletionTimestamp == nil {
		facts.Invalid, facts.Waves = invalid.Error(), cluster.Status.Waves
	}
	if facts.UnreportedNamespaces > 0 && cluster.Status.ObservedGeneration == cluster.Generation {
		return nil
	}
	original := cluster.DeepCopy()
	cluster.Status = status.NewClusterStatus(facts, metav1.Now())
	ready := apimeta.FindStatusCondition(cluster.Status.Conditions, meta.ConditionReady)
	c.Metrics.SetSidecarState(sidecarcache.ClusterKey(cluster.Name), telemetry.SidecarState{
		Ready: string(ready.Status), Reason: ready.Reason, Workloads: func(func(telemetry.WorkloadState) bool) {},
	})
	if equality.Semantic.DeepEqual(original.Status, cluster.Status) {
		return nil
	}
	announceRevertEnd(c.events, cluster, &cluster.Spec.VectorSidecarSpec, original.Status.Reverted, cluster.Status.Reverted)
	announceError(ctx, c.events, c.Reports, cluster, original.Status.Conditions, cluster.Status.Conditions)
	if err := c.applyStatus(ctx, cluster); err != nil {
		return &reportedError{err}
	}
	clusterState.markStatusWritten()
	if specHistory.LastGood != nil && cluster.Status.LastKnownGood == nil {
		clusterState.drop(cluster)
	}
	return nil
}
