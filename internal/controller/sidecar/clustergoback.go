// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// A ClusterVectorSidecar reverts its own spec in all namespaces at once. The reconcile of a namespace with failing
// workloads requests the revert. The reconcile of the ClusterVectorSidecar itself writes the revert to the status, and the
// reconciles of all namespaces follow. It also adds up the progress of the namespaces, and stores the spec that they
// have finished.

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

// revertSpec writes the revert of a ClusterVectorSidecar's spec to its status, if a namespace has requested it.
func (c *clusters) revertSpec(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *cachedCluster) error {
	request := clusterState.requestedRevert(cluster)
	if request == nil {
		return nil
	}
	good := cluster.Status.LastKnownGood
	cluster.Status.Reverted = request.reverted
	if err := c.applyStatus(ctx, cluster); err != nil {
		return fmt.Errorf("writing the revert of the spec of generation %d to the status: %w", request.reverted.Generation, err)
	}
	announceRevert(ctx, c.events, cluster, good, request.reverted, request.cause)
	return nil
}
