// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Gate is the result of the check whether a VectorSidecar may start the target revision.
type Gate struct {
	// IsOpen is true if the VectorSidecar may start the target revision.
	IsOpen bool
	// IsHalted is true if the target revision is halted. VectorSidecars with the revision stop, and others do not start
	// it.
	IsHalted bool
	// Message explains why the gate is closed.
	Message string
	// Wave is the number of the wave that the VectorSidecar waits for. It is also 0 if the VectorSidecar waits for
	// something else.
	Wave int
	// Until is the time of the next check without an event, or zero for never.
	Until time.Time
	// HasAllReports is true if all VectorSidecars have reported since the process started.
	HasAllReports bool
	// Finished is the newest stored revision without failures that a VectorSidecar of the wave has finished. A
	// VectorSidecar returns to it from an undone revision. It is "" if no revision qualifies, or until all
	// VectorSidecars have reported.
	Finished string
	// Fallback is a revision for new VectorSidecars while the gate is closed: other members of the wave or of a later
	// wave have finished it. It is nil if no member has finished a suitable revision.
	Fallback *FinishedRevision
}

// FinishedRevision is a revision that a VectorSidecar has finished, with the time.
type FinishedRevision struct {
	Revision       string
	CompletionTime metav1.Time
}

// Gate returns whether a VectorSidecar of a wave may start the target revision.
func (w *Waves) Gate(name types.NamespacedName, member WaveMember, target *Target, now time.Time) Gate {
	w.mu.Lock()
	defer w.mu.Unlock()
	gate := w.gateFor(member, target, now)
	gate.HasAllReports = w.hasAllReports()
	if gate.HasAllReports && gate.IsHalted {
		gate.Finished = w.newestFinished(member.Wave, target)
	}
	key := memberKey{name, member.Wave}
	if gate.IsOpen {
		delete(w.waiting, key)
	} else {
		w.waiting[key] = true
		gate.Fallback = w.fallbackRevision(member.Wave, target)
	}
	return gate
}

// fallbackRevision returns a revision that VectorSidecars of a wave have finished, or else of a later wave. It skips the
// target revision and revisions that have failed anywhere. Of several members of a wave, the first by name counts.
func (w *Waves) fallbackRevision(wave int, target *Target) *FinishedRevision {
	failed := map[string]bool{}
	for _, progress := range w.allProgress() {
		failed[progress.failed] = true
	}
	for _, stored := range target.Stored {
		failed[stored.Revision] = failed[stored.Revision] || stored.Failure != nil
	}
	var bestName types.NamespacedName
	var best *memberProgress
	for name, progress := range w.allProgress() {
		if progress.wave < wave || !progress.isDone || progress.revision == target.Revision || failed[progress.revision] {
			continue
		}
		if best == nil || progress.wave < best.wave || progress.wave == best.wave && compareKeys(name, bestName) < 0 {
			bestName, best = name, progress
		}
	}
	if best == nil {
		return nil
	}
	return &FinishedRevision{Revision: best.revision, CompletionTime: best.completionTime}
}

// newestFinished returns the newest stored revision that a VectorSidecar of a wave has finished. It skips the published
// revision and failed revisions, and returns "" if no revision is left.
func (w *Waves) newestFinished(wave int, target *Target) string {
	finished := map[string]bool{}
	for _, member := range w.allProgress() {
		if member.wave != wave {
			continue
		}
		finished[member.previous] = true
		if member.isDone || member.isReverted {
			finished[member.revision] = true
		}
	}
	for _, stored := range target.Stored {
		if finished[stored.Revision] && target.canReturnTo(stored.Revision) {
			return stored.Revision
		}
	}
	return ""
}

// hasAllReports reports whether all VectorSidecars have reported since the process started.
func (w *Waves) hasAllReports() bool { return w.awaitingReports != nil && len(w.awaitingReports) == 0 }

// gateFor returns the gate of a VectorSidecar as a member of its wave. The caller holds the mutex.
func (w *Waves) gateFor(member WaveMember, target *Target, now time.Time) Gate {
	switch {
	case member.IsUndone:
		return Gate{IsHalted: true, Message: "annotation " + meta.AnnotationUndoRollout + " undoes revision " + target.Revision}
	case target.IsUndone(): // An undone revision does not start, even before all have reported.
		return Gate{IsHalted: true, Message: fmt.Sprintf("a user has undone revision %s; change values, template sets or policy, or run kubectl vectorsidecar rollout retry", target.Revision)}
	case !w.hasAllReports():
		return Gate{Message: "waiting for the first reconcile of all VectorSidecars since the start of the operator"}
	}
	frontier := w.frontier(target)
	if halt := target.Rules.Halt; halt != nil && frontier.failed >= halt.FailedWorkloads {
		return Gate{IsHalted: true, Message: fmt.Sprintf("%d workloads failed with revision %s (rollout.halt): see %s", frontier.failed, target.Revision, memberTitle(frontier.failing))}
	}
	passed, wave := target.promotedWave(), member.Wave
	switch {
	case member.RevertTo != "":
		return Gate{Message: fmt.Sprintf("an annotation reverts the VectorSidecar from revision %s to %s", target.Revision, member.RevertTo)}
	case target.IsRevert, member.IsPromoted:
		return Gate{IsOpen: true}
	}
	if frontier.wave < wave {
		return Gate{Wave: frontier.wave, Message: fmt.Sprintf("waiting for %s of wave %s to finish revision %s", memberTitle(frontier.blocking), target.Rules.WaveName(frontier.wave), target.Revision)}
	}
	for name, progress := range w.allProgress() {
		isBefore := progress.wave < wave && progress.wave > passed && progress.revision == target.Revision
		if isBefore && !progress.maxAgeTime.IsZero() && !progress.maxAgeTime.After(now) { // The VectorSidecar is reconciled in a moment.
			return Gate{Until: now.Add(time.Second), Message: fmt.Sprintf("waiting for %s of wave %s to start rollouts that have waited for spec.rollout.maxAge", memberTitle(name), target.Rules.WaveName(progress.wave))}
		}
	}
	lastWave, soakEnd := 0, time.Time{}
	for _, progress := range w.allProgress() {
		if progress.wave >= wave || progress.wave <= passed || progress.finished.IsZero() || progress.revision != target.Revision {
			continue
		}
		if end := progress.finished.Add(target.Rules.soak(progress.wave)); end.After(soakEnd) {
			lastWave, soakEnd = progress.wave, end
		}
	}
	if soakEnd.After(now) {
		return Gate{Until: soakEnd, Message: fmt.Sprintf("wave %s soaks until %s", target.Rules.WaveName(lastWave), soakEnd.UTC().Format(time.RFC3339))}
	}
	return Gate{IsOpen: true}
}

// memberTitle returns the title of a VectorSidecar, or of a ClusterVectorSidecar, which does not have a namespace.
func memberTitle(name types.NamespacedName) string {
	if name.Namespace == "" {
		return meta.Title(name.Name)
	}
	return meta.TitleIn(name.Namespace, name.Name)
}
