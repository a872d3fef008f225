// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"maps"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Waves have the progress of all VectorSidecars with a target revision, and decide which of them may start it. They do
// not change, so they are safe for concurrent use.
type Waves struct {
	target   *Target
	members  []memberProgress
	frontier waveFrontier
}

// MemberStatus is the status of a VectorSidecar in its wave, or of a ClusterVectorSidecar with its namespaces in one
// wave.
type MemberStatus struct {
	Name   types.NamespacedName
	Member WaveMember
	Status *v1alpha1.RolloutStatus
	// IsOutdated is true if the status is of an earlier generation of the VectorSidecar. Its next reconcile may find
	// workloads that have not finished the revision.
	IsOutdated bool
}

// memberProgress is the progress of one VectorSidecar in its wave.
type memberProgress struct {
	name     types.NamespacedName
	wave     int
	revision string
	// isDone is true if all workloads have finished the revision. completionTime is the time when the last of them
	// finished.
	isDone         bool
	completionTime metav1.Time
	// isOutdated is MemberStatus.IsOutdated.
	isOutdated bool
	// isSkipped is true if other waves do not wait for this member to finish the target revision. The member is paused,
	// or a user reverted it from the target revision.
	isSkipped bool
	// previous is the last known good revision of the member, which it had before its revision. isReverted is true if
	// the member has reverted to its revision.
	previous   string
	isReverted bool
	// finished is the time when the last workload finished. It is zero if no workload had to roll out and pods have run
	// the sidecar.
	finished time.Time
	// maxAgeTime is the time when some of the workloads reach spec.rollout.maxAge, or zero for never.
	maxAgeTime time.Time
	// failed is the revision that some workloads have failed with. workloads is their number.
	failed    string
	workloads int
}

// waveFrontier is the frontier of a revision: the first wave that has not finished it, and its failures.
type waveFrontier struct {
	revision string
	// wave is the first unfinished wave that is not skipped by a promotion. blocking is its first VectorSidecar that
	// has not finished.
	wave     int
	blocking types.NamespacedName
	// failed is the number of workloads that failed with the revision. failing is the first VectorSidecar that has some
	// of them.
	failed  int
	failing types.NamespacedName
	// isKnown is true if the operator has reconciled each VectorSidecar since it started.
	isKnown bool
}

// NewWaves returns the Waves of a target revision. isKnown is true if the operator has reconciled each member since it
// started. Until then, a status may not show the current workloads, and no VectorSidecar starts a revision.
func NewWaves(target *Target, statuses []MemberStatus, isKnown bool) *Waves {
	w := &Waves{target: target, members: make([]memberProgress, 0, len(statuses))}
	for i := range statuses {
		w.members = append(w.members, statuses[i].progress(target))
	}
	w.frontier = w.findFrontier(isKnown)
	return w
}

// progress returns the progress that the status describes. Failures from before the last retry of the installation do not
// count.
func (m *MemberStatus) progress(target *Target) memberProgress {
	member, status := &m.Member, m.Status
	progress := memberProgress{
		name: m.Name, wave: member.Wave, revision: status.Revision, isDone: status.CompletionTime != nil, isOutdated: m.IsOutdated,
		maxAgeTime: member.MaxAgeTime, previous: status.Previous, isReverted: status.RevertedFrom != "",
		isSkipped: status.State == v1alpha1.RolloutPaused || member.IsUndone || member.RevertTo != "" && status.RevertedFrom == target.Revision,
	}
	if progress.isDone {
		progress.completionTime = *status.CompletionTime
	}
	if progress.isDone && (status.StartTime != nil || status.LacksEvidence()) {
		progress.finished = status.CompletionTime.Time
	}
	if status.LastHandledInstallationRetry == target.Retry {
		progress.failed, progress.workloads = status.FailedRevision, int(status.FailedWorkloads)
	}
	return progress
}

// findFrontier returns the frontier of the target revision.
func (w *Waves) findFrontier(isKnown bool) waveFrontier {
	revision := w.target.Revision
	frontier := waveFrontier{revision: revision, wave: len(w.target.Rules.Waves) + 1, isKnown: isKnown}
	passed := w.target.promotedWave()
	for i := range w.members {
		progress := &w.members[i]
		if progress.failed == revision {
			frontier.failed += progress.workloads
			if progress.workloads > 0 && (frontier.failing.Name == "" || compareKeys(progress.name, frontier.failing) < 0) {
				frontier.failing = progress.name
			}
		}
		isFinished := progress.revision == revision && progress.isDone && !progress.isOutdated
		isUnfinished := progress.wave > passed && !progress.isSkipped && !isFinished
		if isUnfinished && (progress.wave < frontier.wave || progress.wave == frontier.wave && compareKeys(progress.name, frontier.blocking) < 0) {
			frontier.wave, frontier.blocking = progress.wave, progress.name
		}
	}
	return frontier
}

// compareKeys sorts VectorSidecars by namespace and name.
func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// IsFor reports whether these are the Waves of a target.
func (w *Waves) IsFor(target *Target) bool { return w.target == target }

// AffectedSince returns the VectorSidecars to reconcile because of a change from earlier Waves of the same revision: all if
// the failures have changed, and those in later waves if another wave is the first unfinished one.
func (w *Waves) AffectedSince(earlier *Waves) []types.NamespacedName {
	previous, current := &earlier.frontier, &w.frontier
	firstWave := min(previous.wave, current.wave) + 1
	switch {
	case previous.revision != current.revision: // A new revision requests the reconciles of all VectorSidecars.
		return nil
	case previous.failed != current.failed || previous.isKnown != current.isKnown:
		firstWave = 0
	case previous.wave == current.wave:
		return nil
	}
	names := map[types.NamespacedName]bool{}
	for i := range w.members {
		if w.members[i].wave >= firstWave {
			names[w.members[i].name] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

// IsHalted reports whether the failures with the target revision halt it.
func (w *Waves) IsHalted() bool {
	halt := w.target.Rules.Halt
	return halt != nil && w.frontier.failed >= halt.FailedWorkloads
}

// Count returns the numbers of VectorSidecars of each wave that wait for the target revision, are in progress with it,
// and have finished it.
func (w *Waves) Count() (waves []WaveCount) {
	for wave := range len(w.target.Rules.Waves) + 1 {
		waves = append(waves, WaveCount{Wave: w.target.Rules.WaveName(wave)})
	}
	for i := range w.members {
		progress := &w.members[i]
		count := &waves[min(progress.wave, len(waves)-1)]
		switch {
		case hasUnfinished(progress.revision, progress.isDone, w.target):
			count.Progressing++
		case progress.revision != w.target.Revision:
			count.Waiting++
		default:
			count.Finished++
		}
	}
	return waves
}

// WaveCount has the numbers of VectorSidecars of a wave.
type WaveCount struct {
	Wave                           string
	Waiting, Progressing, Finished int
}
