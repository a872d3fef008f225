// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Waves keep the progress of every VectorSidecar and decide which ones may start the target revision. They are safe for
// concurrent use.
//
// They do not keep anything that outlives the process. Each VectorSidecar reports its progress from its status again,
// and no VectorSidecar starts a revision before all have reported.
type Waves struct {
	mu sync.Mutex
	// members has the progress of each VectorSidecar. A ClusterVectorSidecar has one entry for each wave that contains some of
	// its namespaces.
	members map[types.NamespacedName][]memberProgress
	// failing is the number of entries with failed workloads.
	failing int
	// awaitingReports are the VectorSidecars that have to report first. It is nil until the VectorSidecars are known.
	awaitingReports map[types.NamespacedName]bool
	// waiting are the members that wait because their gate is closed.
	waiting map[memberKey]bool
	// lastFrontier is the frontier when waiting members were last requeued.
	lastFrontier waveFrontier
}

// memberKey identifies a VectorSidecar in its wave, or a ClusterVectorSidecar in one of its waves.
type memberKey struct {
	types.NamespacedName

	wave int
}

// WaveReport is the progress of a VectorSidecar as a member of its wave, or of a ClusterVectorSidecar with its namespaces in
// one wave.
type WaveReport struct {
	Member WaveMember
	Status *v1alpha1.RolloutStatus
}

// memberProgress is the progress of one VectorSidecar.
type memberProgress struct {
	wave     int
	revision string
	// isDone is true if all workloads have finished the revision. completionTime is the time when the last of them
	// finished.
	isDone         bool
	completionTime metav1.Time
	// skippedRevision is the target revision if other waves do not wait for this member to finish it. The member is paused, or a
	// user reverted it from the target revision. Otherwise it is "".
	skippedRevision string
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
	// hasAllReports is true if all VectorSidecars have reported.
	hasAllReports bool
}

// NewWaves returns Waves without any reports.
func NewWaves() *Waves {
	return &Waves{members: map[types.NamespacedName][]memberProgress{}, waiting: map[memberKey]bool{}}
}

// HasMembers reports whether ExpectReports has been called.
func (w *Waves) HasMembers() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.awaitingReports != nil
}

// ExpectReports sets the VectorSidecars that must report before a revision starts. The caller passes all existing
// ones. Only the first call has an effect.
func (w *Waves) ExpectReports(names []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.awaitingReports != nil {
		return
	}
	w.awaitingReports = map[types.NamespacedName]bool{}
	for _, name := range names {
		if _, isSeen := w.members[name]; !isSeen {
			w.awaitingReports[name] = true
		}
	}
}

// Report replaces the progress of a VectorSidecar. A VectorSidecar has one report, and a ClusterVectorSidecar has one
// for each of its waves. It returns the VectorSidecars to requeue.
func (w *Waves) Report(name types.NamespacedName, target *Target, reports ...WaveReport) (wake []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.awaitingReports, name)
	w.setProgress(name, parseReports(target, reports))
	return w.membersToRequeue(target)
}

// setProgress replaces the progress of a VectorSidecar. The caller holds the mutex.
func (w *Waves) setProgress(name types.NamespacedName, members []memberProgress) {
	w.failing += countFailing(members) - countFailing(w.members[name])
	w.members[name] = members
}

// countFailing returns the number of members with a failed revision.
func countFailing(members []memberProgress) (failing int) {
	for i := range members {
		if members[i].failed != "" {
			failing++
		}
	}
	return failing
}

// parseReports returns the progress that reports describe, measured against a target.
func parseReports(target *Target, reports []WaveReport) []memberProgress {
	members := make([]memberProgress, 0, len(reports))
	for i := range reports {
		members = append(members, reports[i].memberProgress(target))
	}
	return members
}

// memberProgress returns the progress that the report describes, measured against a target. Failures count only if
// the report has handled the last retry of the installation.
func (p *WaveReport) memberProgress(target *Target) memberProgress {
	member, status := &p.Member, p.Status
	progress := memberProgress{
		wave: member.Wave, revision: status.Revision, isDone: status.CompletionTime != nil, maxAgeTime: member.MaxAgeTime, previous: status.Previous, isReverted: status.RevertedFrom != "",
	}
	if status.State == v1alpha1.RolloutPaused || member.RevertTo != "" || member.IsUndone {
		progress.skippedRevision = target.Revision
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

// ReportUnknown records that a VectorSidecar cannot report its progress now. If it has not reported since the process started,
// its last status counts: a halt, and an unfinished wave. Without a last status, others do not wait for it.
func (w *Waves) ReportUnknown(name types.NamespacedName, target *Target, lastReports ...WaveReport) (wake []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.awaitingReports, name)
	if _, isSeen := w.members[name]; !isSeen && len(lastReports) > 0 {
		w.setProgress(name, parseReports(target, lastReports))
	}
	return w.membersToRequeue(target)
}

// Forget removes a deleted VectorSidecar. The target is nil if waves are not in use.
func (w *Waves) Forget(name types.NamespacedName, target *Target) (wake []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.awaitingReports, name)
	w.setProgress(name, nil)
	delete(w.members, name)
	maps.DeleteFunc(w.waiting, func(waits memberKey, _ bool) bool { return waits.NamespacedName == name })
	if target == nil {
		return nil
	}
	return w.membersToRequeue(target)
}

// membersToRequeue returns the waiting VectorSidecars if the frontier has changed. If the number of failures has changed, it
// returns all VectorSidecars.
func (w *Waves) membersToRequeue(target *Target) []types.NamespacedName {
	current := w.frontier(target)
	previous := w.lastFrontier
	if w.lastFrontier = current; previous.revision == current.revision && previous.wave == current.wave && previous.failed == current.failed && previous.hasAllReports == current.hasAllReports {
		return nil
	}
	names := map[types.NamespacedName]bool{}
	for waits := range w.waiting {
		names[waits.NamespacedName] = true
	}
	if previous.failed != current.failed {
		for name := range w.members {
			names[name] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

// frontier returns the frontier of the target revision.
func (w *Waves) frontier(target *Target) waveFrontier {
	frontier := waveFrontier{revision: target.Revision, wave: len(target.Rules.Waves) + 1, hasAllReports: w.hasAllReports()}
	passed := target.promotedWave()
	for name, progress := range w.allProgress() {
		if progress.failed == target.Revision {
			frontier.failed += progress.workloads
			if progress.workloads > 0 && (frontier.failing.Name == "" || compareKeys(name, frontier.failing) < 0) {
				frontier.failing = name
			}
		}
		isBehind := progress.wave > passed && progress.skippedRevision != target.Revision && (progress.revision != target.Revision || !progress.isDone)
		if isBehind && (progress.wave < frontier.wave || progress.wave == frontier.wave && compareKeys(name, frontier.blocking) < 0) {
			frontier.wave, frontier.blocking = progress.wave, name
		}
	}
	return frontier
}

// allProgress returns the progress of all members, with their VectorSidecars.
func (w *Waves) allProgress() iter.Seq2[types.NamespacedName, *memberProgress] {
	return func(yield func(types.NamespacedName, *memberProgress) bool) {
		for name, members := range w.members {
			for i := range members {
				if !yield(name, &members[i]) {
					return
				}
			}
		}
	}
}

// compareKeys sorts VectorSidecars by namespace and name.
func compareKeys(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Count returns the numbers of VectorSidecars of each wave that wait for the target revision, are in progress with it,
// and have finished it. It also reports whether the revision is halted.
func (w *Waves) Count(target *Target) (waves []WaveCount, isHalted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wave := range len(target.Rules.Waves) + 1 {
		waves = append(waves, WaveCount{Wave: target.Rules.WaveName(wave)})
	}
	for _, progress := range w.allProgress() {
		count := &waves[min(progress.wave, len(waves)-1)]
		switch {
		case isInProgress(progress.revision, progress.isDone, target):
			count.Progressing++
		case progress.revision != target.Revision:
			count.Waiting++
		default:
			count.Finished++
		}
	}
	halt := target.Rules.Halt
	return waves, halt != nil && w.frontier(target).failed >= halt.FailedWorkloads
}

// WaveCount has the numbers of VectorSidecars of a wave.
type WaveCount struct {
	Wave                           string
	Waiting, Progressing, Finished int
}
