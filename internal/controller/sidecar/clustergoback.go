// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// A ClusterVectorSidecar reverts its own spec in all namespaces at once. The reconcile of a namespace with failing
// workloads writes the revert to the status, and the reconciles of all other namespaces follow. The reconcile of the
// ClusterVectorSidecar itself adds up the progress of the namespaces, and stores the spec that they have finished.

// keepSpecHistory returns the status fields about the spec of a ClusterVectorSidecar. It also returns how long until these
// fields change without an event, 0 for never.
func (c *clusters) keepSpecHistory(rollouts *rolloutTracker, cluster *v1alpha1.ClusterVectorSidecar, clusterState *cachedCluster) (lastgood.SpecStatus, time.Duration) {
	sidecar := asVectorSidecar(cluster)
	observation, deadline := clusterState.observeSpec(sidecar, rollouts.now())
	observation.OnFailure = rollouts.catalog.Rules().ResolveOnFailure(cluster.Spec.Rollout)
	specHistory := lastgood.NextSpecStatus(sidecar, &observation)
	if clusterState.hasDropped(cluster) {
		specHistory = lastgood.SpecStatus{}
	}
	if deadline.IsZero() || observation.OnFailure != v1alpha1.OnFailureRevert {
		return specHistory, 0
	}
	return specHistory, max(deadline.Sub(rollouts.now()), time.Millisecond)
}

// revertSpec writes the revert of a ClusterVectorSidecar's spec to its status, after the reconcile of one namespace
// has found it necessary. It requeues the ClusterVectorSidecar, and so all of its namespaces.
func (c *clusters) revertSpec(ctx context.Context, sidecar *v1alpha1.VectorSidecar, reverted *v1alpha1.RevertedSpec) error {
	name := clusterName(sidecar)
	err := c.updateCluster(ctx, name, func(cluster *v1alpha1.ClusterVectorSidecar) error {
		if lastgood.NewAttempt(asVectorSidecar(cluster)) != lastgood.NewAttempt(sidecar) {
			return apply.ErrStale // The spec has changed, or has been reverted already.
		}
		cluster.Status.Reverted = reverted
		return nil
	})
	if err != nil {
		return err
	}
	c.notifier.Notify(sidecarcache.ClusterKey(name))
	return nil
}
