// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package sidecar

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/catalog"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/podfaults"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/sidecarcache"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// waveController starts the target revision in the VectorSidecars of one wave after another.
type waveController struct {
	*slotScheduler

	namespaces *namespaces
	access     *podfaults.Access
	statuses   *statusWriter
	clusters   *clusters
	waves      *fleet.Waves
	options    *Options
	now        func() time.Time
	// isHalted is the last reported halt state. isCounted is true if the last metrics had waves.
	isHalted, isCounted atomic.Bool
}

// advanceSidecar determines the revision that a reconcile uses for a VectorSidecar and sets it in the VectorSidecar's status.
// It does not write the status; record does. It returns nil if the installation has no waves.
func (s *waveController) advanceSidecar(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar) (*waveRollout, error) {
	platform, err := s.catalog.Current()
	if err != nil {
		return nil, err
	}
	if !platform.Rollout.IsStaged() {
		return nil, nil
	}
	if sidecar.DeletionTimestamp != nil { // A deletion may take any time.
		s.notifier.Notify(s.waves.Forget(client.ObjectKeyFromObject(sidecar), &platform.Target)...)
		return nil, nil
	}
	s.expectReports(ctx)
	namespace, err := s.namespaces.get(ctx, sidecar.Namespace)
	if err != nil {
		return nil, err
	}
	wave := waveFor(sidecar, namespace.Labels, s.options, platform)
	if sidecar.Cluster != nil {
		return s.clusterRollout(sidecar, platform.Rollout.WaveName(wave), platform), nil
	}
	lastStatus := sidecarState.Rollout(&sidecar.Status)
	member := newMember(sidecar, &sidecar.Spec, lastgood.Generation(sidecar), wave, &platform.Target)
	if sidecar.Status.Total().Failed > 0 && !hasFailedRevision(lastStatus) && !s.mayHaveFailedWith(ctx, sidecar, lastStatus) {
		member.Generation = 0
	}
	rollout, err := s.startRevision(ctx, client.ObjectKeyFromObject(sidecar), member, lastStatus, platform)
	if err != nil || !rollout.IsNew {
		return rollout, err
	}
	sidecar.Status.Rollout = rollout.Status.DeepCopy()
	return rollout, nil
}

// mayHaveFailedWith reports whether workloads may have failed because of the current revision of a VectorSidecar. The
// cause is unknown because pods are not read.
func (s *waveController) mayHaveFailedWith(ctx context.Context, sidecar *v1alpha1.VectorSidecar, rolloutStatus *v1alpha1.RolloutStatus) bool {
	hasFailedWithIt := rolloutStatus != nil && rolloutStatus.CompletionTime == nil && rolloutStatus.Generation == lastgood.Generation(sidecar)
	return hasFailedWithIt && s.access.UnreadableReason(ctx, sidecar.Namespace) != ""
}

// expectReports sets the VectorSidecars that must report before a revision starts, if that has not been done yet.
func (s *waveController) expectReports(ctx context.Context) {
	if s.waves.HasMembers() {
		return
	}
	s.waves.ExpectReports(s.sidecars.Keys(ctx))
}

// waveFor returns the number of the wave of a VectorSidecar.
func waveFor(sidecar *v1alpha1.VectorSidecar, namespaceLabels map[string]string, options *Options, platform *desired.Platform) int {
	inputs := desired.Inputs{Sidecar: sidecar, NamespaceLabels: namespaceLabels, DefaultEnvironment: options.DefaultEnvironment}
	environment, _ := inputs.ResolveEnvironment()
	return platform.Rollout.WaveFor(namespaceLabels, environment)
}

// clusterRollout returns the rollout state of a ClusterVectorSidecar in a namespace, which is the state of its wave.
func (s *waveController) clusterRollout(sidecar *v1alpha1.VectorSidecar, wave string, platform *desired.Platform) *waveRollout {
	name, _ := meta.ParseClusterName(sidecar.Name)
	rollout := s.clusters.getOrCreate(name).waveRollout(wave)
	if rollout == nil {
		s.notifier.Notify(sidecarcache.ClusterKey(name))
		rollout = &waveRollout{target: platform.Target, RevisionState: fleet.RevisionState{IsHeld: true, Gate: fleet.Gate{Message: "waiting for the operator's first check of the wave"}}}
	}
	rollout.clusterName = name
	sidecar.Status.Rollout = rollout.Status.DeepCopy()
	return rollout
}

// startRevision returns the next rollout state of a VectorSidecar. Before it starts a revision, it makes sure that
// the revision can be read back.
func (s *waveController) startRevision(ctx context.Context, name types.NamespacedName, member fleet.WaveMember, lastStatus *v1alpha1.RolloutStatus, platform *desired.Platform) (*waveRollout, error) {
	rollout := &waveRollout{member: member, target: platform.Target}
	stored, err := s.catalog.StoredRevisions(ctx)
	rollout.target.Stored = fleet.WithFailures(stored, s.waves.Failures(&platform.Target))
	gate := s.waves.Gate(name, member, &rollout.target, s.now())
	if platform.Unpublished != "" {
		gate = fleet.Gate{Message: platform.Unpublished}
	}
	rollout.RevisionState = fleet.Advance(lastStatus, member, &rollout.target, gate)
	if !rollout.IsNew {
		return rollout, nil
	}
	if err == nil { // While stored revisions cannot be read, no VectorSidecar changes its revision.
		isReturn := rollout.Status.RevertedFrom == platform.Target.Revision
		err = s.catalog.PrepareStart(ctx, platform, rollout.Status.Revision, isReturn)
	}
	unstored := &catalog.UnstoredError{}
	switch {
	case catalog.IsGone(err) && member.RevertTo != "": // Ignore the request, so that other VectorSidecars do not depend on it.
		member.RevertTo, member.Rejection = "", err.Error()
		return s.startRevision(ctx, name, member, lastStatus, platform)
	case catalog.IsGone(err):
		rollout.Reject(lastStatus, &rollout.target, err.Error())
	case errors.As(err, &unstored):
		rollout.Reject(lastStatus, &rollout.target, err.Error())
		rollout.Gate.Until = unstored.Until
	case err != nil:
		return nil, err
	}
	return rollout, nil
}

// record writes the start of a revision to the status. If workloads will be written for the revision, it also records
// the start time of their rollouts. Both must be in the status before the writes, because another replica may become
// the leader after a crash.
func (s *waveController) record(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar, rollout *waveRollout, decision *decision.Decision) error {
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

// newMember returns the WaveMember of a VectorSidecar or a ClusterVectorSidecar.
func newMember(object client.Object, spec *v1alpha1.VectorSidecarSpec, generation int64, wave int, target *fleet.Target) fleet.WaveMember {
	member := fleet.WaveMember{Wave: wave, Generation: generation}
	target.ReadAnnotations(&member, object.GetAnnotations())
	if spec.Rollout != nil {
		member.OnFailure = spec.Rollout.OnFailure
	}
	return member
}

// observe records the progress of a reconcile. It returns the rollout status and the time until the status changes
// without an event.
func (s *waveController) observe(ctx context.Context, sidecar *v1alpha1.VectorSidecar, rollout *waveRollout, d *decision.Decision, writtenPlans []*plan.Plan) (*v1alpha1.RolloutStatus, time.Duration) {
	if rollout == nil {
		if s.isCounted.Swap(false) {
			s.clearWaveMetrics()
		}
		return nil, 0
	}
	name, now := client.ObjectKeyFromObject(sidecar), s.now()
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
	if rollout.clusterName != "" {
		s.clusters.getOrCreate(rollout.clusterName).setProgress(sidecar.Namespace, rollout, progress, d.Deferred.Due, now)
		return &rollout.Status, 0
	}
	rollout.member.MaxAgeTime = d.Deferred.Due
	recorded := rollout.Status.Failures
	nextDue := rollout.Observe(progress, rollout.member.Wave, &rollout.target, now)
	announceFailures(ctx, s.statuses.events, sidecar, recorded, rollout.Status.Failures)
	s.notifier.Notify(s.waves.Report(name, &rollout.target, fleet.WaveReport{Member: rollout.member, Status: &rollout.Status})...)
	s.countWaves(&rollout.target)
	if nextDue.IsZero() {
		return &rollout.Status, 0
	}
	return &rollout.Status, max(nextDue.Sub(now), time.Millisecond)
}

// reportFailed records that a VectorSidecar with a failed reconcile cannot report, so that its wave does not wait for
// a report. Its last known progress counts.
func (s *waveController) reportFailed(name types.NamespacedName, lastReports []fleet.WaveReport) {
	if target := s.target(); target != nil {
		s.notifier.Notify(s.waves.ReportUnknown(name, target, lastReports...)...)
		s.countWaves(target)
	}
}

// lastReports returns the last known progress of a VectorSidecar. It returns nothing if the VectorSidecar was never
// in a wave or is not in a wave anymore.
func (s *waveController) lastReports(ctx context.Context, sidecarState *state.Sidecar, sidecar *v1alpha1.VectorSidecar) ([]fleet.WaveReport, error) {
	platform, rolloutStatus := s.stagedPlatform(), sidecarState.Rollout(sidecarState.Status(sidecar))
	if platform == nil || rolloutStatus == nil || sidecar.DeletionTimestamp != nil {
		return nil, nil
	}
	namespace, err := s.namespaces.get(ctx, sidecar.Namespace)
	if err != nil {
		return nil, err
	}
	wave := waveFor(sidecar, namespace.Labels, s.options, platform)
	return []fleet.WaveReport{{Member: newMember(sidecar, &sidecar.Spec, lastgood.Generation(sidecar), wave, &platform.Target), Status: rolloutStatus}}, nil
}

// forget drops a deleted VectorSidecar.
func (s *waveController) forget(name types.NamespacedName) {
	target := s.target()
	s.notifier.Notify(s.waves.Forget(name, target)...) // Also without waves, because waves may be set again.
	if target != nil {
		s.countWaves(target)
	}
	s.slotScheduler.forget(name)
}

// target returns the current target revision, or nil if the installation does not use waves.
func (s *waveController) target() *fleet.Target {
	if platform := s.stagedPlatform(); platform != nil {
		return &platform.Target
	}
	return nil
}

// stagedPlatform returns the current platform, or nil if the installation does not use waves.
func (s *waveController) stagedPlatform() *desired.Platform {
	if platform, _ := s.catalog.Current(); platform != nil && platform.Rollout.IsStaged() {
		return platform
	}
	return nil
}

// clearWaveMetrics sets the metrics of an installation without waves.
func (s *waveController) clearWaveMetrics() {
	s.metrics.SetWaves([]fleet.WaveCount{{Wave: fleet.DefaultWave}}, false)
}

// countWaves sets the metrics of the waves and emits an event for a new halt.
func (s *waveController) countWaves(target *fleet.Target) {
	s.isCounted.Store(true)
	counts, isHalted := s.waves.Count(target)
	s.metrics.SetWaves(counts, isHalted)
	if wasHalted := s.isHalted.Swap(isHalted); isHalted && !wasHalted {
		installation := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.options.Installation.Namespace, Name: s.options.Installation.Name}}
		s.statuses.events.Eventf(installation, nil, corev1.EventTypeWarning, meta.ReasonRolloutHalted, "Halt",
			"revision %s is halted, because workloads failed with it (rollout.halt): kubectl vectorsidecar rollout status", target.Revision)
	}
}
