// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/controller/state"
	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/desired"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/lastgood"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// stages let changed templates and values of the installation through to one wave of
// VectorSidecars after another.
type stages struct {
	*pace

	namespaces *namespaces
	access     *podAccess
	statuses   *statusWriter
	clusters   *clusters
	waves      *fleet.Waves
	options    *Options
	now        func() time.Time
	// isHalted is the last that was told of, and isCounted is true once there were waves.
	isHalted, isCounted atomic.Bool
}

// advance says what a pass does, and gives the VectorSidecar the revision that it has in it. It
// writes nothing: see record. It returns nil if there are no waves.
func (s *stages) advance(ctx context.Context, known *state.Sidecar, sidecar *v1alpha1.VectorSidecar) (*stage, error) {
	now, err := s.catalog.current(ctx)
	if err != nil {
		return nil, err
	}
	if !now.Rollout.IsStaged() {
		return nil, nil
	}
	if sidecar.DeletionTimestamp != nil { // However long that takes.
		s.wake(s.waves.Forget(client.ObjectKeyFromObject(sidecar), &now.Target))
		return nil, nil
	}
	s.await(ctx)
	namespace, err := s.namespaces.of(ctx, sidecar.Namespace)
	if err != nil {
		return nil, err
	}
	wave := waveOf(sidecar, namespace.Labels, s.options, now)
	if sidecar.Cluster != nil {
		return s.follow(sidecar, now.Rollout.NameOf(wave), now), nil
	}
	last := known.Rollout(&sidecar.Status)
	of := memberOf(sidecar, &sidecar.Spec, lastgood.Generation(sidecar), wave, &now.Target)
	if sidecar.Status.Total().Failed > 0 && !isFaultOf(last) && !s.mayBeFaultOf(ctx, sidecar, last) {
		of.Generation = 0
	}
	present, err := s.let(ctx, client.ObjectKeyFromObject(sidecar), of, last, now)
	if err != nil || !present.IsNew {
		return present, err
	}
	present.last, sidecar.Status.Rollout = sidecar.Status.Rollout, present.Status.DeepCopy()
	return present, nil
}

// mayBeFaultOf reports whether workloads may have failed because of the revision that a VectorSidecar has, and nobody knows,
// because pods are not read.
func (s *stages) mayBeFaultOf(ctx context.Context, sidecar *v1alpha1.VectorSidecar, is *v1alpha1.RolloutStatus) bool {
	hasFailedWithIt := is != nil && is.CompletionTime == nil && is.Generation == lastgood.Generation(sidecar)
	return hasFailedWithIt && s.access.notRead(ctx, sidecar.Namespace) != ""
}

// await makes everything wait until all VectorSidecars have reported, once it is known which there are.
func (s *stages) await(ctx context.Context) {
	if s.waves.Known() {
		return
	}
	s.waves.Await(s.sidecars.keys(ctx))
}

// waveOf returns the number of the wave that a VectorSidecar is in.
func waveOf(sidecar *v1alpha1.VectorSidecar, namespaceLabels map[string]string, options *Options, now *desired.Platform) int {
	inputs := desired.Inputs{Sidecar: sidecar, NamespaceLabels: namespaceLabels, DefaultEnvironment: options.DefaultEnvironment}
	environment, _ := inputs.ResolveEnvironment()
	return now.Rollout.WaveOf(namespaceLabels, environment)
}

// follow returns what a ClusterVectorSidecar does in a namespace of a wave: what its part there does.
func (s *stages) follow(sidecar *v1alpha1.VectorSidecar, wave string, now *desired.Platform) *stage {
	name, _ := meta.ParseClusterName(sidecar.Name)
	present := s.clusters.of(name).part(wave)
	if present == nil {
		s.wake([]types.NamespacedName{clusterKey(name)})
		present = &stage{given: now.Target, Stage: fleet.Stage{IsHeld: true, Gate: fleet.Gate{Why: "its wave has not been looked at yet"}}}
	}
	present.ofCluster = name
	sidecar.Status.Rollout = present.Status.DeepCopy()
	return present
}

// let advances a VectorSidecar, and makes sure that the revision it lets through can be read back.
func (s *stages) let(ctx context.Context, name types.NamespacedName, of fleet.Member, last *v1alpha1.RolloutStatus, now *desired.Platform) (*stage, error) {
	present := &stage{of: of, given: now.Target}
	stored, unread := s.catalog.history.ledger.read(ctx)
	failures := s.waves.Failures(&now.Target)
	present.given.Stored = fleet.WithFailures(stored, failures)
	gate := s.waves.Gate(name, of, &present.given, s.now())
	if now.Unpublished != "" {
		gate = fleet.Gate{Why: now.Unpublished}
	}
	present.Stage = fleet.Advance(last, of, &present.given, gate)
	if !present.IsNew {
		return present, nil
	}
	unstored := &unstoredError{}
	err := unread // No VectorSidecar moves to another revision while the failed ones are not read.
	if isReturn := present.Status.RevertedFrom == now.Target.Revision; err == nil && !isReturn {
		err = s.catalog.history.ledger.mark(ctx, failures) // A start deletes the failure from the status, a return keeps it.
	}
	if err == nil {
		err = s.catalog.publish(ctx, now)
	}
	if err == nil {
		err = s.catalog.history.let(ctx, present.Status.Revision, now)
	}
	switch {
	case isGone(err) && of.BackTo != "": // As if nobody had asked for it: others would wait, or not, for nothing.
		of.BackTo, of.Refused = "", err.Error()
		return s.let(ctx, name, of, last, now)
	case isGone(err):
		present.Refuse(last, &present.given, err.Error())
	case errors.As(err, &unstored):
		present.Refuse(last, &present.given, err.Error())
		present.Gate.Until = unstored.until
	case err != nil:
		return nil, err
	}
	return present, nil
}

// record writes to the status that a revision is let through, and that something is to be written for
// it if it is: both have to be on record before that, for whoever leads after a crash.
func (s *stages) record(ctx context.Context, known *state.Sidecar, sidecar *v1alpha1.VectorSidecar, present *stage, decided *decision.Decision) error {
	if present == nil || !present.IsNew {
		return nil
	}
	if plan.HasRollouts(decided.Plans) {
		present.Begin(s.now())
	}
	before := sidecar.DeepCopy()
	before.Status.Rollout, sidecar.Status.Rollout = present.last, present.Status.DeepCopy()
	if err := s.statuses.patch(ctx, before, sidecar, known.IsStatusUnknown()); err != nil {
		known.StatusFailed()
		return fmt.Errorf("writing to the status that revision %s is let through: %w", present.Status.Revision, err)
	}
	known.StatusWritten(sidecar)
	log.FromContext(ctx).Info("revision let through", "revision", present.Status.Revision, "wave", present.Status.Wave)
	return nil
}

// tidy records what is published, and deletes stored revisions that nobody needs any more. It returns when to try again
// what has failed, 0 for never.
func (s *stages) tidy(ctx context.Context) (again time.Duration) {
	last := s.catalog.last.Load()
	if last == nil || last.Unpublished != "" {
		return 0
	}
	unstored := &unstoredError{}
	if err := s.catalog.publish(ctx, last); errors.As(err, &unstored) {
		again = max(unstored.until.Sub(s.options.Clock()), atOnce)
	}
	if last.Rollout.IsStaged() {
		again = minNonZero(minNonZero(again, s.markFailures(ctx, &last.Target)), s.catalog.history.tidy(ctx, last))
	}
	return again
}

// markFailures marks the revisions that have failed, and removes the mark of the published revision when that has
// succeeded after a retry. It returns when to retry a failed request, 0 for never.
func (s *stages) markFailures(ctx context.Context, given *fleet.Given) (again time.Duration) {
	ledger := s.catalog.history.ledger
	err := ledger.mark(ctx, s.waves.Failures(given))
	stored, _ := ledger.read(ctx)
	isMarked := slices.ContainsFunc(stored, func(revision fleet.StoredRevision) bool {
		return revision.Revision == given.Revision && revision.Failure != nil
	})
	if err == nil && isMarked && s.waves.HasRecovered(given, s.now()) {
		err = ledger.unmark(ctx, given.Revision)
	}
	if unstored := (*unstoredError)(nil); errors.As(err, &unstored) {
		return max(unstored.until.Sub(s.options.Clock()), atOnce)
	}
	return 0
}

// memberOf is a VectorSidecar or a ClusterVectorSidecar as a member of a wave.
func memberOf(object client.Object, spec *v1alpha1.VectorSidecarSpec, generation int64, wave int, given *fleet.Given) fleet.Member {
	of := fleet.Member{Wave: wave, Generation: generation}
	given.Ask(&of, object.GetAnnotations())
	if spec.Rollout != nil {
		of.OnFailure = spec.Rollout.OnFailure
	}
	return of
}

// observe records how far a pass has come. It returns the status, and how long until the next look.
func (s *stages) observe(ctx context.Context, sidecar *v1alpha1.VectorSidecar, present *stage, decided *decision.Decision, done []*plan.Plan) (*v1alpha1.RolloutStatus, time.Duration) {
	if present == nil {
		if s.isCounted.Swap(false) {
			s.countNone()
		}
		return nil, 0
	}
	name, now := client.ObjectKeyFromObject(sidecar), s.now()
	isWritten := false
	for _, one := range done {
		isWritten = isWritten || one.StartsPods() && one.Action != plan.Remove
	}
	progress := decision.ProgressOf(decided.Plans, isWritten)
	progress.Generation = lastgood.Generation(sidecar)
	if decided.Invalid == nil {
		progress.Workloads = decided.Matched
	}
	if is := &present.Status; decided.Invalid != nil {
		wasValid := apimeta.IsStatusConditionTrue(sidecar.Status.Conditions, meta.ConditionConfigValid) && sidecar.Status.ObservedGeneration == sidecar.Generation
		if wasValid && is.State == v1alpha1.RolloutProgressing {
			progress.Failed = max(progress.Failed, 1) // The revision broke it, and not its owner.
		}
		progress.IsDone = is.FailedRevision != is.Revision
	}
	if progress.Failed > 0 {
		progress.Failures = decided.Failures(sidecar)
	}
	if present.ofCluster != "" {
		s.clusters.of(present.ofCluster).progressIn(sidecar.Namespace, present, progress, decided.Deferred.Due, now)
		return &present.Status, 0
	}
	present.of.Due = decided.Deferred.Due
	recorded := present.Status.Failures
	until := present.Observe(progress, present.of.Wave, &present.given, now)
	announceFailures(ctx, s.statuses.events, sidecar, recorded, present.Status.Failures)
	s.wake(s.waves.Tell(name, &present.given, fleet.Part{Of: present.of, Is: &present.Status}))
	s.countWaves(&present.given)
	if until.IsZero() {
		return &present.Status, 0
	}
	return &present.Status, max(until.Sub(now), time.Millisecond)
}

// passOver ends a wave's waiting for one whose pass has failed, but for what was last known of it.
func (s *stages) passOver(name types.NamespacedName, last []fleet.Part) {
	if given := s.given(); given != nil {
		s.wake(s.waves.Pass(name, given, last...))
		s.countWaves(given)
	}
}

// lastOf returns how far a VectorSidecar was when that was last known, nothing if it never was in a wave, or
// is not any more.
func (s *stages) lastOf(ctx context.Context, known *state.Sidecar, sidecar *v1alpha1.VectorSidecar) ([]fleet.Part, error) {
	now, is := s.staged(), known.Rollout(known.Status(sidecar))
	if now == nil || is == nil || sidecar.DeletionTimestamp != nil {
		return nil, nil
	}
	namespace, err := s.namespaces.of(ctx, sidecar.Namespace)
	if err != nil {
		return nil, err
	}
	wave := waveOf(sidecar, namespace.Labels, s.options, now)
	return []fleet.Part{{Of: memberOf(sidecar, &sidecar.Spec, lastgood.Generation(sidecar), wave, &now.Target), Is: is}}, nil
}

// forget drops a VectorSidecar that is gone.
func (s *stages) forget(name types.NamespacedName) {
	given := s.given()
	s.wake(s.waves.Forget(name, given)) // Also without waves: there may be some again.
	if given != nil {
		s.countWaves(given)
	}
	s.pace.forget(name)
}

// given is what the installation gave out when anybody last looked, nil if that does not go by
// waves.
func (s *stages) given() *fleet.Given {
	if last := s.staged(); last != nil {
		return &last.Target
	}
	return nil
}

// staged is the platform when anybody last looked, nil if it does not go by waves.
func (s *stages) staged() *desired.Platform {
	if last := s.catalog.last.Load(); last != nil && last.Rollout.IsStaged() {
		return last
	}
	return nil
}

// countNone sets the metrics of an installation without waves.
func (s *stages) countNone() { s.metrics.SetWaves([]fleet.WaveCount{{Wave: fleet.DefaultWave}}, false) }

// countWaves sets the metrics, and emits an event about a new halt.
func (s *stages) countWaves(given *fleet.Given) {
	s.isCounted.Store(true)
	counts, isHalted := s.waves.Count(given)
	s.metrics.SetWaves(counts, isHalted)
	if wasHalted := s.isHalted.Swap(isHalted); isHalted && !wasHalted {
		installation := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: s.options.Installation.Namespace, Name: s.options.Installation.Name}}
		s.statuses.events.Eventf(installation, nil, corev1.EventTypeWarning, meta.ReasonRolloutHalted, "Halt",
			"revision %s is halted, because workloads failed with it (rollout.halt): kubectl vectorsidecar rollout status", given.Revision)
	}
}
