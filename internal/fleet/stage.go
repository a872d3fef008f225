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
func Advance(before *v1alpha1.RolloutStatus, of Member, given *Given, gate Gate) Stage {
	next := Stage{Gate: gate, retry: of.Retry}
	if before != nil {
		next.Status = *before.DeepCopy()
	}
	is := &next.Status
	next.handleUndo(of, given)
	isRetried := of.isRetried(is, given)
	if isRetried {
		gate.IsHalted, next.Gate.IsHalted = false, false
	}
	if is.FailedRevision != "" && is.LastHandledInstallationRetry != given.Retry {
		is.FailedRevision, is.FailedWorkloads, is.LastHandledInstallationRetry = "", 0, ""
	}
	is.Wave, is.Message = given.Rules.NameOf(of.Wave), ""
	onFailure := cmp.Or(of.OnFailure, given.Rules.OnFailure)
	isUndone := of.IsUndone || given.IsUndone() && !isRetried
	switch {
	case of.BackTo != "" && (is.Revision != of.BackTo || is.RevertedFrom != given.Revision):
		next.goBack(of.BackTo, &of, given)
	case isUndone && is.Revision == given.Revision:
		next.undo(&of, given)
	case isRetried && is.RevertedFrom == given.Revision: // What failed still counts for all others.
		*is = v1alpha1.RolloutStatus{
			Revision: given.Revision, Previous: is.Revision, Generation: of.Generation, Wave: is.Wave, State: v1alpha1.RolloutProgressing,
			FailedRevision: is.FailedRevision, FailedWorkloads: is.FailedWorkloads, LastHandledInstallationRetry: is.LastHandledInstallationRetry, LastHandledRetry: is.LastHandledRetry, LastHandledUndo: is.LastHandledUndo,
			Failures: is.Failures,
		}
		next.IsNew = true
	case is.Revision != given.Revision && gate.IsOpen:
		*is = v1alpha1.RolloutStatus{
			Revision: given.Revision, Previous: lastGood(is, given), Generation: of.Generation, Wave: is.Wave, State: v1alpha1.RolloutProgressing,
			LastHandledRetry: of.Retry, Failures: is.Failures,
		}
		next.IsNew = true
	case is.Revision == given.Revision && gate.IsHalted && onFailure == v1alpha1.OnFailureRevert && is.Previous != "" && !given.isFailed(is.Previous):
		next.goBack(is.Previous, &of, given)
	case is.Revision == "" && gate.Meanwhile != nil:
		is.Revision, is.CompletionTime, next.IsNew = gate.Meanwhile.Revision, &gate.Meanwhile.Finished, true
	}
	next.wait(given)
	if is.Message == "" {
		is.Message = of.Refused
	}
	return next
}

// isRetried reports whether a person asks the VectorSidecar to go on with the given revision, which it has
// or has gone back from, and this request has not been handled yet. A request to go back takes precedence.
func (m *Member) isRetried(is *v1alpha1.RolloutStatus, given *Given) bool {
	hasIt := is.Revision == given.Revision || is.RevertedFrom == given.Revision
	return m.BackTo == "" && !m.IsUndone && m.Retry != "" && m.Retry != is.LastHandledRetry && hasIt
}

// goBack moves a VectorSidecar from the given revision to an earlier one.
func (s *Stage) goBack(to string, of *Member, given *Given) {
	is := &s.Status
	is.RevertedFrom, is.Revision, is.Previous = given.Revision, to, ""
	is.Generation, is.StartTime, is.CompletionTime, is.LastHandledRetry, s.IsNew = of.Generation, nil, nil, of.Retry, true
}

// handleUndo records that the VectorSidecar has handled a request to undo the published revision: only a retry that is
// requested after that starts the revision again.
func (s *Stage) handleUndo(of Member, given *Given) {
	is := &s.Status
	switch {
	case !given.IsUndone():
		is.LastHandledUndo = ""
	case is.LastHandledUndo != given.UndoRequest:
		is.LastHandledUndo, is.LastHandledRetry = given.UndoRequest, of.Retry
	}
}

// undo moves a VectorSidecar from the undone revision to an earlier one. If there is none, it stays.
func (s *Stage) undo(of *Member, given *Given) {
	switch to := returnTarget(&s.Status, s.Gate.Finished, given); {
	case to != "":
		s.goBack(to, of, given)
	case given.Stored == nil:
		s.Gate.Why += "; the stored revisions could not be read"
	case s.Gate.IsHeard:
		s.Gate.Why += "; no earlier revision without failures is stored that this VectorSidecar or another one of its wave has finished, so it stays"
	}
}

// returnTarget returns the revision that a VectorSidecar returns to when the published one is undone: the previous one,
// else the newest one that a VectorSidecar of its wave has finished, "" if there is none. A failed revision is none.
func returnTarget(is *v1alpha1.RolloutStatus, newest string, given *Given) string {
	if given.canReturnTo(is.Previous) {
		return is.Previous
	}
	return newest
}

// lastGood returns the revision to go back to if the next one fails. A VectorSidecar has been good with a revision that
// it has gone back to.
func lastGood(is *v1alpha1.RolloutStatus, given *Given) string {
	isGood := (is.CompletionTime != nil || is.RevertedFrom != "") && is.FailedRevision != is.Revision
	switch {
	case isGood && !given.isFailed(is.Revision):
		return is.Revision
	case given.isFailed(is.Previous):
		return ""
	}
	return is.Previous
}

// Begin records that rollouts are about to begin for a revision that has just been let through.
func (s *Stage) Begin(now time.Time) {
	if is := &s.Status; is.CompletionTime == nil {
		at := metav1.NewTime(now.Truncate(time.Second))
		is.StartTime = &at
	}
}

// Refuse undoes letting a revision through, because it cannot be stored or read back.
func (s *Stage) Refuse(before *v1alpha1.RolloutStatus, given *Given, why string) {
	wave := s.Status.Wave
	s.Status, s.IsNew = v1alpha1.RolloutStatus{}, false
	if before != nil {
		s.Status = *before.DeepCopy()
	}
	s.Status.Wave, s.Gate.IsOpen, s.Gate.Why = wave, false, why
	s.wait(given)
}

// wait says what a VectorSidecar waits for that has not the given revision, or one that is
// halted.
func (s *Stage) wait(given *Given) {
	is := &s.Status
	s.IsHeld = IsHeld(is, given, s.Gate.IsHalted)
	if is.Revision != given.Revision || s.Gate.IsHalted {
		is.State, is.Message = v1alpha1.RolloutWaiting, s.Gate.Why
	}
	switch {
	case is.RevertedFrom == given.Revision: // Also while it is not known yet whether it is halted.
		is.State = v1alpha1.RolloutReverted
	case s.Gate.IsHalted:
		is.State = v1alpha1.RolloutHalted
	}
}

// IsHeld reports whether nothing may be written for a VectorSidecar but removals: it has no
// revision; or one that is halted; or another one than the given that its workloads were not
// done with when that was given out, or failed with.
func IsHeld(is *v1alpha1.RolloutStatus, given *Given, isHalted bool) bool {
	switch {
	case is.Revision == "":
		return true
	case is.Revision == given.Revision:
		return isHalted
	case is.RevertedFrom != "":
		return false
	}
	return is.CompletionTime == nil || is.FailedRevision == is.Revision
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
func (s *Stage) Observe(progress Progress, wave int, given *Given, now time.Time) (until time.Time) {
	is := &s.Status
	isBack := is.RevertedFrom == given.Revision
	if is.Revision != given.Revision && !isBack {
		return s.Gate.Until
	}
	if isBack {
		progress.Failed, progress.Unexplained = 0, 0 // That is the failed one's, or for the VectorSidecar alone to stop at.
	}
	if progress.Failed+progress.Unexplained > 0 && progress.Generation != is.Generation {
		progress.Failed, progress.Unexplained, progress.IsDone = 0, 0, true // Nobody waits for what its owner has broken.
	}
	is.Workloads, is.Evidence = int32(progress.Workloads), int32(progress.Evidence) //nolint:gosec // No cluster has two billion.
	at := metav1.NewTime(now.Truncate(time.Second))
	if progress.IsLate && is.CompletionTime != nil && !isBack && s.Gate.IsOpen { // It goes on, and waves wait again.
		is.StartTime, is.CompletionTime, until = &at, nil, now
		progress.IsDone = false
	}
	if progress.IsBegun && is.StartTime == nil && is.CompletionTime == nil {
		is.StartTime = &at
	}
	if hasFailed := progress.Failed+progress.Unexplained > 0 || !isBack && given.Rules.Halt != nil && is.FailedRevision == is.Revision; progress.IsDone && !progress.IsPaused && is.CompletionTime == nil && !hasFailed {
		is.CompletionTime = &at
	}
	if is.Failures = mergeFailures(is.Failures, is.Revision, s.failuresOf(progress, wave, given, now)); progress.Failed == 0 && is.CompletionTime != nil && !isBack && is.FailedRevision != is.Revision {
		is.Failures = nil
	}
	if s.isWatched(wave, given, now) && progress.Failed > int(is.FailedWorkloads) {
		is.FailedRevision, is.FailedWorkloads, is.LastHandledInstallationRetry = is.Revision, int32(progress.Failed), given.Retry //nolint:gosec // No namespace has two billion.
		is.LastHandledRetry = s.retry                                                                                             // It has been tried again, and halts again.
	}
	if s.IsHeld || isBack {
		return s.Gate.Until
	}
	switch soaked := given.Rules.soak(wave); {
	case is.CompletionTime == nil && progress.IsDone && progress.IsPaused:
		is.State, is.Message = v1alpha1.RolloutPaused, "spec.rollout.paused is true"
	case is.CompletionTime == nil:
		is.State = v1alpha1.RolloutProgressing
		if progress.Unexplained > 0 {
			is.Message = fmt.Sprintf("failed workloads whose cause is not known: %d, which stop this VectorSidecar and halt no revision", progress.Unexplained)
		}
	case (is.StartTime != nil || is.LacksEvidence()) && now.Before(is.CompletionTime.Add(soaked)):
		is.State, until = v1alpha1.RolloutSoaking, is.CompletionTime.Add(soaked)
		is.Message = fmt.Sprintf("until %s", until.UTC().Format(time.RFC3339))
	default:
		is.State = v1alpha1.RolloutComplete
	}
	return until
}

// failuresOf returns the failures that count for the present revision.
func (s *Stage) failuresOf(progress Progress, wave int, given *Given, now time.Time) []v1alpha1.RolloutFailure {
	if progress.Failed == 0 || !s.isWatched(wave, given, now) {
		return nil
	}
	return progress.Failures
}

// isWatched reports whether failures still count for the present revision.
func (s *Stage) isWatched(wave int, given *Given, now time.Time) bool {
	is := &s.Status
	return is.CompletionTime == nil || is.StartTime != nil && now.Before(is.CompletionTime.Add(given.Rules.watch(wave)))
}

// WatchedSince returns since when rollouts with the given revision were let through, and whether
// their failures still count.
func (s *Stage) WatchedSince(wave int, given *Given, now time.Time) (since time.Time, isWatched bool) {
	is := &s.Status
	if is.Revision != given.Revision || is.State == v1alpha1.RolloutPaused || is.StartTime == nil || !s.isWatched(wave, given, now) {
		return time.Time{}, false
	}
	return is.StartTime.Time, true
}
