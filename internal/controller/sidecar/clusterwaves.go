// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/waves"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
)

// A ClusterVectorSidecar is in each wave that has one of its namespaces. In each wave it is treated like a separate
// VectorSidecar. It has a revision, other VectorSidecars wait for it, and it can be halted. The reconcile of the
// ClusterVectorSidecar itself starts revisions and writes them to the status. The reconciles of its namespaces follow
// the status of their wave, and report their progress.

// advanceRollouts starts the target revision in the waves of a ClusterVectorSidecar, and requests the reconciles of
// namespaces that this affects. If the selector is invalid, the namespaces are unknown. The waves then stay
// unchanged, and other VectorSidecars do not wait for them. advanceRollouts returns how long until the next reconcile, 0 for
// never.
func (c *clusters) advanceRollouts(ctx context.Context, tracker *rolloutTracker, cluster *v1alpha1.ClusterVectorSidecar, clusterState *cachedCluster, isInvalid bool) (time.Duration, error) {
	platform, err := tracker.catalog.Current()
	if err != nil {
		return 0, err
	}
	if !platform.Rollout.IsStaged() {
		clusterState.setWaveRollouts(nil)
		return 0, nil
	}
	if cluster.DeletionTimestamp != nil { // Other VectorSidecars do not wait for the deletion.
		clusterState.setWaveRollouts(nil)
		c.waves.Forget(sidecarcache.ClusterKey(cluster.Name))
		return 0, nil
	}
	if isInvalid {
		c.waves.Forget(sidecarcache.ClusterKey(cluster.Name))
		return 0, nil
	}
	members, _ := waves.NamespacesByWave(ctx, c.sidecars, cluster, tracker.options.Settings.DefaultEnvironment, platform)
	rollouts := map[string]*waveRollout{}
	generation := lastgood.Generation(asVectorSidecar(cluster))
	for wave, namespaces := range members {
		name, lastStatus := platform.Rollout.WaveName(wave), platform.Rollout.LastStatus(cluster.Status.Waves, wave)
		broken := clusterState.brokenNamespaces(namespaces, lastStatus, tracker.now())
		member := newMember(cluster, &cluster.Spec.VectorSidecarSpec, generation, wave, &platform.Target)
		if len(broken) > 0 {
			member.Generation = 0
		}
		rollout, err := tracker.startRevision(ctx, member, lastStatus, platform)
		if err != nil {
			return 0, err
		}
		if rollout.IsNew {
			clusterState.setBroken(name, broken, generation)
		}
		if clusterState.isStartRequested(rollout) {
			rollout.MarkStarted(c.clock())
		}
		rollout.lastStatus, rollouts[name] = lastStatus, rollout
	}
	nextDue := c.observeRollouts(ctx, tracker, &platform.Target, cluster, clusterState, members, rollouts)
	if err := c.recordRollouts(ctx, cluster, rollouts); err != nil {
		return 0, fmt.Errorf("writing the start of a revision to the status: %w", err)
	}
	isOther, toRequeue := clusterState.setWaveRollouts(rollouts), map[string]bool{}
	for wave, namespaces := range members {
		for _, namespace := range namespaces {
			if isOther[platform.Rollout.WaveName(wave)] {
				toRequeue[namespace] = true
			}
		}
	}
	c.notifyNamespaces(ctx, cluster, toRequeue, false)
	if nextDue.IsZero() {
		return 0, nil
	}
	return max(nextDue.Sub(tracker.now()), time.Millisecond), nil
}

// recordRollouts writes to the status which revisions start, when their first rollouts start, and which revisions
// continue because workloads have reached spec.rollout.maxAge. It does so before a workload is written, because another
// leader may have to continue after a crash.
func (c *clusters) recordRollouts(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, rollouts map[string]*waveRollout) error {
	hasStarted := func(rollout *waveRollout) bool {
		previous := cmp.Or(rollout.lastStatus, &v1alpha1.RolloutStatus{})
		return rollout.IsNew || previous.StartTime == nil && rollout.Status.StartTime != nil || previous.CompletionTime != nil && rollout.Status.CompletionTime == nil
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(rollouts)), hasStarted) {
		return nil
	}
	cluster.Status.Waves = rolloutStatuses(rollouts)
	log.FromContext(ctx).Info("starting revisions in waves", "waves", slices.Sorted(maps.Keys(rollouts)))
	return c.applyStatus(ctx, cluster)
}

// observeRollouts records the progress of the waves, and requeues the VectorSidecars that wait for it. It returns the time at
// which the progress changes without an event, zero for never.
func (c *clusters) observeRollouts(ctx context.Context, tracker *rolloutTracker, target *fleet.Target, cluster *v1alpha1.ClusterVectorSidecar, clusterState *cachedCluster, members map[int][]string, rollouts map[string]*waveRollout) (nextDue time.Time) {
	for _, rollout := range rollouts {
		progress, dueTime := clusterState.waveProgress(cluster, rollout, members[rollout.member.Wave], tracker.now())
		rollout.member.MaxAgeTime = dueTime
		recorded := slices.Clone(rollout.Status.Failures)
		if previous := clusterState.waveRollout(rollout.Status.Wave); previous != nil {
			recorded = append(recorded, previous.Status.Failures...) // The status may not have them yet.
		}
		if next := rollout.Observe(progress, rollout.member.Wave, target, tracker.now()); nextDue.IsZero() || !next.IsZero() && next.Before(nextDue) {
			nextDue = next
		}
		announceFailures(ctx, c.events, cluster, recorded, rollout.Status.Failures)
	}
	return nextDue
}
