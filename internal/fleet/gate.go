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
	// IsKnown is true if the operator has reconciled each VectorSidecar since it started.
	IsKnown bool
	// Finished is the newest stored revision without failures that a VectorSidecar of the wave has finished. A
	// VectorSidecar returns to it from an undone revision. It is "" if no revision qualifies, or until
	// IsKnown.
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

// Gate returns whether a VectorSidecar of a wave may start the target revision. The target is that of the Waves, with
// the stored revisions.
//
// A wave opens when all VectorSidecars of earlier waves have finished the revision with their current generation, the
// soaks of these waves are over, and the operator has reconciled each VectorSidecar since it started.
func (w *Waves) Gate(member WaveMember, target *Target, now time.Time) Gate {
	gate := w.gateFor(member, now)
	gate.IsKnown = w.frontier.isKnown
	if gate.IsKnown && gate.IsHalted {
		gate.Finished = w.newestFinished(member.Wave, target)
	}
	if !gate.IsOpen {
		gate.Fallback = w.fallbackRevision(member.Wave, target)
	}
	return gate
}

// fallbackRevision returns a revision that VectorSidecars of a wave have finished, or else of a later wave. It skips the
// target revision and revisions that have failed anywhere. Of several members of a wave, the first by name counts.
func (w *Waves) fallbackRevision(wave int, target *Target) *FinishedRevision {
	failed := map[string]bool{}
	for i := range w.members {
		failed[w.members[i].failed] = true
	}
	for _, stored := range target.Stored {
		failed[stored.Revision] = failed[stored.Revision] || stored.Failure != nil
	}
	var best *memberProgress
	for i := range w.members {
		progress := &w.members[i]
		if progress.wave < wave || !progress.isDone || progress.revision == target.Revision || failed[progress.revision] {
			continue
		}
		if best == nil || progress.wave < best.wave || progress.wave == best.wave && compareKeys(progress.name, best.name) < 0 {
			best = progress
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
	for i := range w.members {
		member := &w.members[i]
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

// gateFor returns whether a member of a wave may start the target revision, and why not. It does not set the revisions
// that the member may start instead of the target revision.
func (w *Waves) gateFor(member WaveMember, now time.Time) Gate {
	target, frontier := w.target, &w.frontier
	switch {
	case member.IsUndone:
		return Gate{IsHalted: true, Message: "annotation " + meta.AnnotationUndoRollout + " undoes revision " + target.Revision}
	case target.IsUndone(): // An undone revision does not start, even before all have been reconciled.
		return Gate{IsHalted: true, Message: fmt.Sprintf("a user has undone revision %s; change values, template sets or policy, or run kubectl vectorsidecar rollout retry", target.Revision)}
	case !frontier.isKnown:
		return Gate{Message: "waiting for the first reconcile of all VectorSidecars since the start of the operator"}
	case w.IsHalted():
		return Gate{IsHalted: true, Message: fmt.Sprintf("%d workloads failed with revision %s (rollout.halt): see %s", frontier.failed, target.Revision, memberTitle(frontier.failing))}
	case member.RevertTo != "":
		return Gate{Message: fmt.Sprintf("an annotation reverts the VectorSidecar from revision %s to %s", target.Revision, member.RevertTo)}
	case target.IsRevert, member.IsPromoted:
		return Gate{IsOpen: true}
	case frontier.wave < member.Wave:
		return Gate{Wave: frontier.wave, Message: fmt.Sprintf("waiting for %s of wave %s to finish revision %s", memberTitle(frontier.blocking), target.Rules.WaveName(frontier.wave), target.Revision)}
	}
	return w.soakGate(member.Wave, now)
}

// soakGate returns the gate of a wave after all earlier waves have finished. It is closed until the soaks of these waves
// are over, and while some of their workloads are about to start late.
func (w *Waves) soakGate(wave int, now time.Time) Gate {
	rules, passed := w.target.Rules, w.target.promotedWave()
	lastWave, soakEnd := 0, time.Time{}
	for i := range w.members {
		progress := &w.members[i]
		if progress.wave >= wave || progress.wave <= passed || progress.revision != w.target.Revision {
			continue
		}
		if !progress.maxAgeTime.IsZero() && !progress.maxAgeTime.After(now) { // The VectorSidecar is reconciled in a moment.
			return Gate{Until: now.Add(time.Second), Message: fmt.Sprintf("waiting for %s of wave %s to start rollouts that have waited for spec.rollout.maxAge", memberTitle(progress.name), rules.WaveName(progress.wave))}
		}
		if end := progress.finished.Add(rules.soak(progress.wave)); !progress.finished.IsZero() && end.After(soakEnd) {
			lastWave, soakEnd = progress.wave, end
		}
	}
	if soakEnd.After(now) {
		return Gate{Until: soakEnd, Message: fmt.Sprintf("wave %s soaks until %s", rules.WaveName(lastWave), soakEnd.UTC().Format(time.RFC3339))}
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
