// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Stage is what a VectorSidecar does about the revision that its installation gives out.
type Stage struct {
	// Status is to be the VectorSidecar's.
	Status v1alpha1.RolloutStatus
	// IsNew is true if the revision has just been let through: that has to be in the
	// status before anything is written for it.
	IsNew bool
	// IsHeld is true if nothing may be written but removals: its revision is halted, or it
	// has none.
	IsHeld bool
	// Gate is what the revision waits for.
	Gate Gate

	// retry is the Member's.
	retry string
}

// Member is a VectorSidecar of a wave.
type Member struct {
	// Wave is the number of its wave.
	Wave int
	// Generation is that of the VectorSidecar, 0 if some of its workloads have failed
	// already.
	Generation int64
	// OnFailure is its own, "" for the installation's.
	OnFailure v1alpha1.OnFailure
	// Due is when some of its workloads will have waited too long for spec.rollout.mode, zero for
	// never.
	Due time.Time
	// BackTo is the revision that a person sends it back to, "" for none, and IsPromoted is true
	// if a person lets it pass its wave by.
	BackTo     string
	IsPromoted bool
	// IsUndone is true if a user undoes the published revision here alone.
	IsUndone bool
	// Retry is a digest of the text by which a person lets it go on, "" for none.
	Retry string
	// Refused says why a person's wish is not followed, "" if it is, or there is none.
	Refused string
}

// Advance returns what a VectorSidecar does, given its last status and the gate of its wave.
func Advance(previous *v1alpha1.RolloutStatus, member Member, target *Given, gate Gate) Stage {
	stage := Stage{Gate: gate, retry: member.Retry}
	if previous != nil {
		stage.Status = *previous.DeepCopy()
	}
	status := &stage.Status
	stage.handleUndo(member, target)
	isRetried := member.isRetried(status, target)
	if isRetried {
		gate.IsHalted, stage.Gate.IsHalted = false, false
	}
	if status.FailedRevision != "" && status.LastHandledInstallationRetry != target.Retry {
		status.FailedRevision, status.FailedWorkloads, status.LastHandledInstallationRetry = "", 0, ""
	}
	status.Wave, status.Message = target.Rules.NameOf(member.Wave), ""
	onFailure := cmp.Or(member.OnFailure, target.Rules.OnFailure)
	isUndone := member.IsUndone || target.IsUndone() && !isRetried
	switch {
	case member.BackTo != "" && (status.Revision != member.BackTo || status.RevertedFrom != target.Revision):
		stage.goBack(member.BackTo, &member, target)
	case isUndone && status.Revision == target.Revision:
		stage.undo(&member, target)
	case isRetried && status.RevertedFrom == target.Revision: // What failed still counts for all others.
		*status = v1alpha1.RolloutStatus{
			Revision: target.Revision, Previous: status.Revision, Generation: member.Generation, Wave: status.Wave, State: v1alpha1.RolloutProgressing,
			FailedRevision: status.FailedRevision, FailedWorkloads: status.FailedWorkloads, LastHandledInstallationRetry: status.LastHandledInstallationRetry, LastHandledRetry: status.LastHandledRetry, LastHandledUndo: status.LastHandledUndo,
			Failures: status.Failures,
		}
		stage.IsNew = true
	case status.Revision != target.Revision && gate.IsOpen:
		*status = v1alpha1.RolloutStatus{
			Revision: target.Revision, Previous: lastGood(status, target), Generation: member.Generation, Wave: status.Wave, State: v1alpha1.RolloutProgressing,
			LastHandledRetry: member.Retry, Failures: status.Failures,
		}
		stage.IsNew = true
	case status.Revision == target.Revision && gate.IsHalted && onFailure == v1alpha1.OnFailureRevert && status.Previous != "" && !target.isFailed(status.Previous):
		stage.goBack(status.Previous, &member, target)
	case status.Revision == "" && gate.Meanwhile != nil:
		status.Revision, status.CompletionTime, stage.IsNew = gate.Meanwhile.Revision, &gate.Meanwhile.Finished, true
	}
	stage.wait(target)
	if status.Message == "" {
		status.Message = member.Refused
	}
	return stage
}

// isRetried reports whether a person asks the VectorSidecar to go on with the given revision, which it has
// or has gone back from, and this request has not been handled yet. A request to go back takes precedence.
func (m *Member) isRetried(status *v1alpha1.RolloutStatus, target *Given) bool {
	hasIt := status.Revision == target.Revision || status.RevertedFrom == target.Revision
	return m.BackTo == "" && !m.IsUndone && m.Retry != "" && m.Retry != status.LastHandledRetry && hasIt
}

// goBack moves a VectorSidecar from the given revision to an earlier one.
func (s *Stage) goBack(targetRevision string, member *Member, target *Given) {
	status := &s.Status
	status.RevertedFrom, status.Revision, status.Previous = target.Revision, targetRevision, ""
	status.Generation, status.StartTime, status.CompletionTime, status.LastHandledRetry, s.IsNew = member.Generation, nil, nil, member.Retry, true
}

// handleUndo records that the VectorSidecar has handled a request to undo the published revision: only a retry that is
// requested after that starts the revision again.
func (s *Stage) handleUndo(member Member, target *Given) {
	status := &s.Status
	switch {
	case !target.IsUndone():
		status.LastHandledUndo = ""
	case status.LastHandledUndo != target.UndoRequest:
		status.LastHandledUndo, status.LastHandledRetry = target.UndoRequest, member.Retry
	}
}

// undo moves a VectorSidecar from the undone revision to an earlier one. If there is none, it stays.
func (s *Stage) undo(member *Member, target *Given) {
	switch targetRevision := returnTarget(&s.Status, s.Gate.Finished, target); {
	case targetRevision != "":
		s.goBack(targetRevision, member, target)
	case target.Stored == nil:
		s.Gate.Why += "; the stored revisions could not be read"
	case s.Gate.IsHeard:
		s.Gate.Why += "; no earlier revision without failures is stored that this VectorSidecar or another one of its wave has finished, so it stays"
	}
}

// returnTarget returns the revision that a VectorSidecar returns to when the published one is undone: the previous one,
// else the newest one that a VectorSidecar of its wave has finished, "" if there is none. A failed revision is none.
func returnTarget(status *v1alpha1.RolloutStatus, newest string, target *Given) string {
	if target.canReturnTo(status.Previous) {
		return status.Previous
	}
	return newest
}

// lastGood returns the revision to go back to if the next one fails. A VectorSidecar has been good with a revision that
// it has gone back to.
func lastGood(status *v1alpha1.RolloutStatus, target *Given) string {
	isGood := (status.CompletionTime != nil || status.RevertedFrom != "") && status.FailedRevision != status.Revision
	switch {
	case isGood && !target.isFailed(status.Revision):
		return status.Revision
	case target.isFailed(status.Previous):
		return ""
	}
	return status.Previous
}

// Begin records that rollouts are about to begin for a revision that has just been let through.
func (s *Stage) Begin(now time.Time) {
	if status := &s.Status; status.CompletionTime == nil {
		start := metav1.NewTime(now.Truncate(time.Second))
		status.StartTime = &start
	}
}

// Refuse undoes letting a revision through, because it cannot be stored or read back.
func (s *Stage) Refuse(previous *v1alpha1.RolloutStatus, target *Given, reason string) {
	wave := s.Status.Wave
	s.Status, s.IsNew = v1alpha1.RolloutStatus{}, false
	if previous != nil {
		s.Status = *previous.DeepCopy()
	}
	s.Status.Wave, s.Gate.IsOpen, s.Gate.Why = wave, false, reason
	s.wait(target)
}

// wait says what a VectorSidecar waits for that has not the given revision, or one that is
// halted.
func (s *Stage) wait(target *Given) {
	status := &s.Status
	s.IsHeld = IsHeld(status, target, s.Gate.IsHalted)
	if status.Revision != target.Revision || s.Gate.IsHalted {
		status.State, status.Message = v1alpha1.RolloutWaiting, s.Gate.Why
	}
	switch {
	case status.RevertedFrom == target.Revision: // Also while it is not known yet whether it is halted.
		status.State = v1alpha1.RolloutReverted
	case s.Gate.IsHalted:
		status.State = v1alpha1.RolloutHalted
	}
}

// IsHeld reports whether nothing may be written for a VectorSidecar but removals: it has no
// revision; or one that is halted; or another one than the given that its workloads were not
// done with when that was given out, or failed with.
func IsHeld(status *v1alpha1.RolloutStatus, target *Given, isHalted bool) bool {
	switch {
	case status.Revision == "":
		return true
	case status.Revision == target.Revision:
		return isHalted
	case status.RevertedFrom != "":
		return false
	}
	return status.CompletionTime == nil || status.FailedRevision == status.Revision
}

// Progress is what a pass has seen of the revision of a VectorSidecar.
type Progress struct {
	// IsBegun is true if a workload rolls out, IsDone if none does or will, and IsPaused if one
	// would if its VectorSidecar was not paused.
	IsBegun, IsDone, IsPaused bool
	// IsLate is true if workloads have waited for spec.rollout.maxAge, and are to have the
	// revision now.
	IsLate bool
	// Workloads is how many workloads are matched, and Evidence how many of them have pods that have run the sidecar.
	Workloads, Evidence int
	// Failed is how many workloads have failed because of the sidecar, and Unexplained how many have failed for a cause that
	// is not known: these count for no halt, and the revision is not finished.
	Failed, Unexplained int
	// Failures describe them, without the revision.
	Failures []v1alpha1.RolloutFailure
	// Generation is the VectorSidecar's.
	Generation int64
}

// Observe records progress with the present revision. It returns when something changes
// although nothing happens, zero for never.
func (s *Stage) Observe(progress Progress, wave int, target *Given, now time.Time) (nextCheck time.Time) {
	status := &s.Status
	isBack := status.RevertedFrom == target.Revision
	if status.Revision != target.Revision && !isBack {
		return s.Gate.Until
	}
	if isBack {
		progress.Failed, progress.Unexplained = 0, 0 // That is the failed one's, or for the VectorSidecar alone to stop at.
	}
	if progress.Failed+progress.Unexplained > 0 && progress.Generation != status.Generation {
		progress.Failed, progress.Unexplained, progress.IsDone = 0, 0, true // Nobody waits for what its owner has broken.
	}
	status.Workloads, status.Evidence = int32(progress.Workloads), int32(progress.Evidence) //nolint:gosec // No cluster has two billion.
	timestamp := metav1.NewTime(now.Truncate(time.Second))
	if progress.IsLate && status.CompletionTime != nil && !isBack && s.Gate.IsOpen { // It goes on, and waves wait again.
		status.StartTime, status.CompletionTime, nextCheck = &timestamp, nil, now
		progress.IsDone = false
	}
	if progress.IsBegun && status.StartTime == nil && status.CompletionTime == nil {
		status.StartTime = &timestamp
	}
	if hasFailed := progress.Failed+progress.Unexplained > 0 || !isBack && target.Rules.Halt != nil && status.FailedRevision == status.Revision; progress.IsDone && !progress.IsPaused && status.CompletionTime == nil && !hasFailed {
		status.CompletionTime = &timestamp
	}
	if status.Failures = mergeFailures(status.Failures, status.Revision, s.failuresOf(progress, wave, target, now)); progress.Failed == 0 && status.CompletionTime != nil && !isBack && status.FailedRevision != status.Revision {
		status.Failures = nil
	}
	if s.isWatched(wave, target, now) && progress.Failed > int(status.FailedWorkloads) {
		status.FailedRevision, status.FailedWorkloads, status.LastHandledInstallationRetry = status.Revision, int32(progress.Failed), target.Retry //nolint:gosec // No namespace has two billion.
		status.LastHandledRetry = s.retry                                                                                                          // It has been tried again, and halts again.
	}
	if s.IsHeld || isBack {
		return s.Gate.Until
	}
	switch soaked := target.Rules.soak(wave); {
	case status.CompletionTime == nil && progress.IsDone && progress.IsPaused:
		status.State, status.Message = v1alpha1.RolloutPaused, "spec.rollout.paused is true"
	case status.CompletionTime == nil:
		status.State = v1alpha1.RolloutProgressing
		if progress.Unexplained > 0 {
			status.Message = fmt.Sprintf("failed workloads whose cause is not known: %d, which stop this VectorSidecar and halt no revision", progress.Unexplained)
		}
	case (status.StartTime != nil || status.LacksEvidence()) && now.Before(status.CompletionTime.Add(soaked)):
		status.State, nextCheck = v1alpha1.RolloutSoaking, status.CompletionTime.Add(soaked)
		status.Message = fmt.Sprintf("until %s", nextCheck.UTC().Format(time.RFC3339))
	default:
		status.State = v1alpha1.RolloutComplete
	}
	return nextCheck
}

// failuresOf returns the failures that count for the present revision.
func (s *Stage) failuresOf(progress Progress, wave int, target *Given, now time.Time) []v1alpha1.RolloutFailure {
	if progress.Failed == 0 || !s.isWatched(wave, target, now) {
		return nil
	}
	return progress.Failures
}

// isWatched reports whether failures still count for the present revision.
func (s *Stage) isWatched(wave int, target *Given, now time.Time) bool {
	status := &s.Status
	return status.CompletionTime == nil || status.StartTime != nil && now.Before(status.CompletionTime.Add(target.Rules.watch(wave)))
}

// WatchedSince returns since when rollouts with the given revision were let through, and whether
// their failures still count.
func (s *Stage) WatchedSince(wave int, target *Given, now time.Time) (start time.Time, isWatched bool) {
	status := &s.Status
	if status.Revision != target.Revision || status.State == v1alpha1.RolloutPaused || status.StartTime == nil || !s.isWatched(wave, target, now) {
		return time.Time{}, false
	}
	return status.StartTime.Time, true
}
