// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clustersidecar

import (
	"context"
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// A ClusterVectorSidecar reverts its own spec in all namespaces at once. The reconcile of a namespace with failing
// workloads requests the revert. The reconcile of the ClusterVectorSidecar itself writes the revert to the status, and the
// reconciles of all namespaces follow. It also adds up the progress of the namespaces, and stores the spec that they
// have finished.

// keepSpecHistory returns the status fields about the spec of a ClusterVectorSidecar. It also returns how long until these
// fields change without an event, 0 for never.
func (r *Reconciler) keepSpecHistory(cluster *v1alpha1.ClusterVectorSidecar, clusterState *state.Cluster) (lastgood.SpecStatus, time.Duration) {
	sidecar := clusterwide.NewSidecarWithoutNamespace(cluster)
	observation, deadline := clusterState.ObserveSpec(sidecar, r.Observer.Clock())
	observation.OnFailure = r.Catalog.Rules().ResolveOnFailure(cluster.Spec.Rollout)
	specHistory := lastgood.NextSpecStatus(sidecar, &observation)
	if clusterState.HasDropped(cluster) {
		specHistory = lastgood.SpecStatus{}
	}
	if deadline.IsZero() || observation.OnFailure != v1alpha1.OnFailureRevert {
		return specHistory, 0
	}
	return specHistory, max(deadline.Sub(r.Observer.Clock()), time.Millisecond)
}

// revertSpec writes the revert of a ClusterVectorSidecar's spec to its status, if a namespace has requested it.
func (r *Reconciler) revertSpec(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *state.Cluster) error {
	request := clusterState.RequestedRevert(cluster)
	if request == nil {
		return nil
	}
	good := cluster.Status.LastKnownGood
	cluster.Status.Reverted = request.Reverted
	if err := r.applyStatus(ctx, cluster); err != nil {
		return fmt.Errorf("writing the revert of the spec of generation %d to the status: %w", request.Reverted.Generation, err)
	}
	r.Recorder.AnnounceRevert(ctx, cluster, good, request.Reverted, request.Cause)
	return nil
}
