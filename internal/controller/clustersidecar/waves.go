// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package clustersidecar

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
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
func (r *Reconciler) advanceRollouts(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, clusterState *state.Cluster, isInvalid bool) (time.Duration, error) {
	platform, err := r.Catalog.Current()
	if err != nil {
		return 0, err
	}
	if !platform.Rollout.IsStaged() {
		clusterState.SetWaveRollouts(nil)
		return 0, nil
	}
	if cluster.DeletionTimestamp != nil { // Other VectorSidecars do not wait for the deletion.
		clusterState.SetWaveRollouts(nil)
		r.Waves.Forget(clusterwide.ClusterKey(cluster.Name))
		return 0, nil
	}
	if isInvalid {
		r.Waves.Forget(clusterwide.ClusterKey(cluster.Name))
		return 0, nil
	}
	members, _ := r.Sidecars.NamespacesByWave(ctx, cluster, r.DefaultEnvironment, platform)
	rollouts := map[string]*state.Rollout{}
	generation := lastgood.Generation(clusterwide.NewSidecarWithoutNamespace(cluster))
	for wave, namespaces := range members {
		name, lastStatus := platform.Rollout.WaveName(wave), platform.Rollout.LastStatus(cluster.Status.Waves, wave)
		broken := clusterState.BrokenNamespaces(namespaces, lastStatus, r.Observer.Clock())
		member := state.NewMember(cluster, &cluster.Spec.VectorSidecarSpec, generation, wave, &platform.Target)
		if len(broken) > 0 {
			member.Generation = 0
		}
		rollout, err := r.Catalog.StartRevision(ctx, member, lastStatus, platform)
		if err != nil {
			return 0, err
		}
		if rollout.IsNew {
			clusterState.SetBroken(name, broken, generation)
		}
		if clusterState.IsStartRequested(rollout) {
			rollout.MarkStarted(r.Observer.Clock())
		}
		rollout.LastStatus, rollouts[name] = lastStatus, rollout
	}
	nextDue := r.observeRollouts(ctx, &platform.Target, cluster, clusterState, members, rollouts)
	if err := r.recordRollouts(ctx, cluster, rollouts); err != nil {
		return 0, fmt.Errorf("writing the start of a revision to the status: %w", err)
	}
	isOther, toRequeue := clusterState.SetWaveRollouts(rollouts), map[string]bool{}
	for wave, namespaces := range members {
		for _, namespace := range namespaces {
			if isOther[platform.Rollout.WaveName(wave)] {
				toRequeue[namespace] = true
			}
		}
	}
	r.notifyNamespaces(ctx, cluster, toRequeue, false)
	if nextDue.IsZero() {
		return 0, nil
	}
	return max(nextDue.Sub(r.Observer.Clock()), time.Millisecond), nil
}

// recordRollouts writes to the status which revisions start, when their first rollouts start, and which revisions
// continue because workloads have reached spec.rollout.maxAge. It does so before a workload is written, because another
// leader may have to continue after a crash.
func (r *Reconciler) recordRollouts(ctx context.Context, cluster *v1alpha1.ClusterVectorSidecar, rollouts map[string]*state.Rollout) error {
	hasStarted := func(rollout *state.Rollout) bool {
		previous := cmp.Or(rollout.LastStatus, &v1alpha1.RolloutStatus{})
		return rollout.IsNew || previous.StartTime == nil && rollout.Status.StartTime != nil || previous.CompletionTime != nil && rollout.Status.CompletionTime == nil
	}
	if !slices.ContainsFunc(slices.Collect(maps.Values(rollouts)), hasStarted) {
		return nil
	}
	cluster.Status.Waves = state.RolloutStatuses(rollouts)
	log.FromContext(ctx).Info("starting revisions in waves", "waves", slices.Sorted(maps.Keys(rollouts)))
	return r.applyStatus(ctx, cluster)
}

// observeRollouts records the progress of the waves, and requeues the VectorSidecars that wait for it. It returns the time at
// which the progress changes without an event, zero for never.
func (r *Reconciler) observeRollouts(ctx context.Context, target *fleet.Target, cluster *v1alpha1.ClusterVectorSidecar, clusterState *state.Cluster, members map[int][]string, rollouts map[string]*state.Rollout) (nextDue time.Time) {
	for _, rollout := range rollouts {
		progress, dueTime := clusterState.WaveProgress(cluster, rollout, members[rollout.Member.Wave], r.Observer.Clock())
		rollout.Member.MaxAgeTime = dueTime
		recorded := slices.Clone(rollout.Status.Failures)
		if previous := clusterState.WaveRollout(rollout.Status.Wave); previous != nil {
			recorded = append(recorded, previous.Status.Failures...) // The status may not have them yet.
		}
		if next := rollout.Observe(progress, rollout.Member.Wave, target, r.Observer.Clock()); nextDue.IsZero() || !next.IsZero() && next.Before(nextDue) {
			nextDue = next
		}
		r.Recorder.AnnounceFailures(ctx, cluster, recorded, rollout.Status.Failures)
	}
	return nextDue
}
