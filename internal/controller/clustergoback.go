// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// A ClusterVectorSidecar goes back from its own spec in all namespaces at once. The pass over a namespace
// where workloads fail writes that to the status, and the passes of all others follow. Its own pass
// adds up how far they are, and keeps the spec that they are done with.

// keepOwn returns what is to be in the status of the spec of a ClusterVectorSidecar, and how long until that
// changes although nothing happens, 0 for ever.
func (c *clusters) keepOwn(stages *stages, cluster *v1alpha1.ClusterVectorSidecar, clusterState *clusterKnown) (lastgood.Kept, time.Duration) {
	sidecar := everywhere(cluster)
	observation, deadline := clusterState.ownSeen(sidecar, stages.now())
	observation.OnFailure = stages.catalog.rules().OnFailureOf(cluster.Spec.Rollout)
	specHistory := lastgood.Keep(sidecar, &observation)
	if clusterState.hasDropped(cluster) {
		specHistory = lastgood.Kept{}
	}
	if deadline.IsZero() || observation.OnFailure != v1alpha1.OnFailureRevert {
		return specHistory, 0
	}
	return specHistory, max(deadline.Sub(stages.now()), time.Millisecond)
}

// goBack writes to the status of a ClusterVectorSidecar that its spec is reverted, as a pass over one of its
// namespaces has found, and has all of them look again.
func (c *clusters) goBack(ctx context.Context, sidecar *v1alpha1.VectorSidecar, reverted *v1alpha1.RevertedSpec) error {
	name := clusterOf(sidecar)
	err := c.change(ctx, name, func(cluster *v1alpha1.ClusterVectorSidecar) error {
		if lastgood.TrialOf(everywhere(cluster)) != lastgood.TrialOf(sidecar) {
			return apply.ErrStale // It has changed, or gone back already.
		}
		cluster.Status.Reverted = reverted
		return nil
	})
	if err != nil {
		return err
	}
	c.queue.Add(reconcile.Request{NamespacedName: clusterKey(name)})
	return nil
}
