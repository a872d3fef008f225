// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"fmt"
	"time"

	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/clusterwide"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/notify"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/podfaults"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// rolloutTracker starts the target revision in VectorSidecars, in the waves that the controller of waves has opened, and
// records their progress.
type rolloutTracker struct {
	catalog    *catalog.Reconciler
	namespaces *namespaces
	access     *podfaults.Access
	statuses   *statusWriter
	clusters   *state.Clusters
	waves      *state.Waves
	notifier   *notify.Notifier
	options    *Options
	now        func() time.Time
}

// advanceSidecar determines the revision that a reconcile uses for a VectorSidecar and sets it in the VectorSidecar's status.
// It does not write the status; record does. It returns nil if the installation has no waves.
func (s *rolloutTracker) advanceSidecar(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar) (*state.Rollout, error) {
	platform, err := s.catalog.Current()
	if err != nil {
		return nil, err
	}
	if !platform.Rollout.IsStaged() {
		return nil, nil
	}
	if sidecar.DeletionTimestamp != nil { // A deletion may take any time.
		s.waves.Forget(client.ObjectKeyFromObject(sidecar))
		return nil, nil
	}
	namespace, err := s.namespaces.get(ctx, sidecar.Namespace)
	if err != nil {
		return nil, err
	}
	wave := platform.WaveFor(&sidecar.Spec, namespace.Labels, s.options.Settings.DefaultEnvironment)
	if meta.IsOfCluster(sidecar.Name) {
		return s.clusterRollout(sidecar, platform.Rollout.WaveName(wave), platform), nil
	}
	lastStatus := sidecarState.Rollout(&sidecar.Status)
	member := state.NewMember(sidecar, &sidecar.Spec, lastgood.Generation(sidecar), wave, &platform.Target)
	if sidecar.Status.Total().Failed > 0 && !state.HasFailedRevision(lastStatus) && !s.mayHaveFailedWith(ctx, sidecar, lastStatus) {
		member.Generation = 0
	}
	rollout, err := s.catalog.StartRevision(ctx, member, lastStatus, platform)
	if err != nil || !rollout.IsNew {
		return rollout, err
	}
	sidecar.Status.Rollout = rollout.Status.DeepCopy()
	return rollout, nil
}

// mayHaveFailedWith reports whether workloads may have failed because of the current revision of a VectorSidecar. The
// cause is unknown because pods are not read.
func (s *rolloutTracker) mayHaveFailedWith(ctx context.Context, sidecar *v1alpha1.VectorSidecar, rolloutStatus *v1alpha1.RolloutStatus) bool {
	hasFailedWithIt := rolloutStatus != nil && rolloutStatus.CompletionTime == nil && rolloutStatus.Generation == lastgood.Generation(sidecar)
	return hasFailedWithIt && s.access.UnreadableReason(ctx, sidecar.Namespace) != ""
}

// clusterRollout returns the rollout state of a ClusterVectorSidecar in a namespace, which is the state of its wave.
func (s *rolloutTracker) clusterRollout(sidecar *v1alpha1.VectorSidecar, wave string, platform *desired.Platform) *state.Rollout {
	name, _ := meta.ParseClusterName(sidecar.Name)
	rollout := s.clusters.GetOrCreate(name).WaveRollout(wave)
	if rollout == nil {
		s.notifier.Notify(clusterwide.ClusterKey(name))
		rollout = &state.Rollout{Target: platform.Target, RevisionState: fleet.RevisionState{IsHeld: true, Gate: fleet.Gate{Message: "waiting for the operator's first check of the wave"}}}
	}
	rollout.ClusterName = name
	sidecar.Status.Rollout = rollout.Status.DeepCopy()
	return rollout
}

// record writes the start of a revision to the status. If workloads will be written for the revision, it also records
// the start time of their rollouts. Both must be in the status before the writes, because another replica may become
// the leader after a crash.
func (s *rolloutTracker) record(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, rollout *state.Rollout, decision *decision.Decision) error {
	if rollout == nil || !rollout.IsNew {
		return nil
	}
	if plan.HasRollouts(decision.Plans) {
		rollout.MarkStarted(s.now())
	}
	sidecar.Status.Rollout = rollout.Status.DeepCopy()
	if err := s.statuses.apply(ctx, sidecarState, sidecar); err != nil {
		return fmt.Errorf("recording the start of revision %s: %w", rollout.Status.Revision, err)
	}
	log.FromContext(ctx).Info("starting revision", "revision", rollout.Status.Revision, "wave", rollout.Status.Wave)
	return nil
}

// observe adds the progress of a reconcile to the rollout. It returns the rollout status and the time until the status changes
// without an event.
func (s *rolloutTracker) observe(ctx context.Context, sidecar *v1alpha1.VectorSidecar, rollout *state.Rollout, d *decision.Decision, writtenPlans []*plan.Plan) (*v1alpha1.RolloutStatus, time.Duration) {
	if rollout == nil {
		return nil, 0
	}
	now := s.now()
	isWritten := false
	for _, p := range writtenPlans {
		isWritten = isWritten || p.StartsPods() && p.Change != plan.Remove
	}
	progress := decision.NewProgress(d.Plans, isWritten)
	progress.Generation = lastgood.Generation(sidecar)
	if d.Invalid == nil {
		progress.Workloads = d.Matched
	}
	if rolloutStatus := &rollout.Status; d.Invalid != nil {
		wasValid := apimeta.IsStatusConditionTrue(sidecar.Status.Conditions, meta.ConditionConfigValid) && sidecar.Status.ObservedGeneration == sidecar.Generation
		if wasValid && rolloutStatus.State == v1alpha1.RolloutProgressing {
			progress.Failed = max(progress.Failed, 1) // The revision made the configuration invalid, not its owner.
		}
		progress.IsDone = rolloutStatus.FailedRevision != rolloutStatus.Revision
	}
	if progress.Failed > 0 {
		progress.Failures = d.Failures(sidecar)
	}
	if rollout.ClusterName != "" {
		s.clusters.GetOrCreate(rollout.ClusterName).SetProgress(sidecar.Namespace, rollout, progress, d.DeferredUntil, now)
		return &rollout.Status, 0
	}
	recorded := rollout.Status.Failures
	nextDue := rollout.Observe(progress, rollout.Member.Wave, &rollout.Target, now)
	s.statuses.events.AnnounceFailures(ctx, sidecar, recorded, rollout.Status.Failures)
	if nextDue.IsZero() {
		return &rollout.Status, 0
	}
	return &rollout.Status, max(nextDue.Sub(now), time.Millisecond)
}

// recordProgress records the progress of a reconcile for the controller of waves, before the status is written. The
// reconcile of a ClusterVectorSidecar records the progress of its namespaces.
func (s *rolloutTracker) recordProgress(sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, rollout *state.Rollout, d *decision.Decision) {
	if rollout == nil {
		sidecarState.SetRollout(nil)
		return
	}
	if rollout.ClusterName != "" {
		return
	}
	sidecarState.SetRollout(&rollout.Status)
	s.waves.Record(client.ObjectKeyFromObject(sidecar), state.WaveProgress{
		Generation: sidecar.Generation, MaxAgeTimes: map[string]time.Time{rollout.Status.Wave: d.DeferredUntil},
	})
	if rollout.Status.FailedRevision == rollout.Target.Revision && !rollout.Gate.IsHalted {
		s.waves.Wake() // A halt must precede the rollouts that may start now.
	}
}
