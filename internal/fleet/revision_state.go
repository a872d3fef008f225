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

// RevisionState is the decision whether a VectorSidecar has the target revision, waits for it, or reverts from it.
type RevisionState struct {
	// Status is the new rollout status of the VectorSidecar.
	Status v1alpha1.RolloutStatus
	// IsNew is true if this decision starts a revision. The status must record the start before any write for the
	// revision.
	IsNew bool
	// IsHeld is true if only removals may be written, because the VectorSidecar's revision is halted, or it does not
	// have one.
	IsHeld bool
	// Gate is the gate of the target revision.
	Gate Gate

	// retry is WaveMember.Retry.
	retry string
}

// WaveMember is a VectorSidecar as a member of its wave.
type WaveMember struct {
	// Wave is the number of the wave.
	Wave int
	// Generation is the generation of the VectorSidecar, or 0 if some of its workloads have already failed.
	Generation int64
	// OnFailure is the setting of the VectorSidecar, or "" to use the installation's.
	OnFailure v1alpha1.OnFailure
	// MaxAgeTime is the time when the first deferred workload reaches spec.rollout.maxAge, or zero for never.
	MaxAgeTime time.Time
	// RevertTo is the revision that a user reverts the VectorSidecar to, or "" for none. IsPromoted is true if a user
	// starts the VectorSidecar before its wave.
	RevertTo   string
	IsPromoted bool
	// IsUndone is true if a user undoes the published revision only in this VectorSidecar.
	IsUndone bool
	// Retry is a digest of a user's request to retry the rollout of the VectorSidecar, or "" for none.
	Retry string
	// Rejection explains why a user's request is rejected, or is "" if it is followed or does not exist.
	Rejection string
}

// Advance returns the next state of a VectorSidecar, from its last rollout status and the gate of its wave.
func Advance(previous *v1alpha1.RolloutStatus, member WaveMember, target *Target, gate Gate) RevisionState {
	state := RevisionState{Gate: gate, retry: member.Retry}
	if previous != nil {
		state.Status = *previous.DeepCopy()
	}
	status := &state.Status
	state.handleUndo(member, target)
	isRetried := member.isRetried(status, target)
	if isRetried {
		gate.IsHalted, state.Gate.IsHalted = false, false
	}
	if status.FailedRevision != "" && status.LastHandledInstallationRetry != target.Retry {
		status.FailedRevision, status.FailedWorkloads, status.LastHandledInstallationRetry = "", 0, ""
	}
	status.Wave, status.Message = target.Rules.WaveName(member.Wave), ""
	onFailure := cmp.Or(member.OnFailure, target.Rules.OnFailure)
	isUndone := member.IsUndone || target.IsUndone() && !isRetried
	switch {
	case member.RevertTo != "" && (status.Revision != member.RevertTo || status.RevertedFrom != target.Revision):
		state.revertTo(member.RevertTo, &member, target)
	case isUndone && status.Revision == target.Revision:
		state.undoRevision(&member, target)
	case isRetried && status.RevertedFrom == target.Revision: // The failures still count for all other VectorSidecars.
		*status = v1alpha1.RolloutStatus{
			Revision: target.Revision, Previous: status.Revision, Generation: member.Generation, Wave: status.Wave, State: v1alpha1.RolloutProgressing,
			FailedRevision: status.FailedRevision, FailedWorkloads: status.FailedWorkloads, LastHandledInstallationRetry: status.LastHandledInstallationRetry, LastHandledRetry: status.LastHandledRetry, LastHandledUndo: status.LastHandledUndo,
			Failures: status.Failures,
		}
		state.IsNew = true
	case status.Revision != target.Revision && gate.IsOpen:
		*status = v1alpha1.RolloutStatus{
			Revision: target.Revision, Previous: lastKnownGood(status, target), Generation: member.Generation, Wave: status.Wave, State: v1alpha1.RolloutProgressing,
			LastHandledRetry: member.Retry, Failures: status.Failures,
		}
		state.IsNew = true
	case status.Revision == target.Revision && gate.IsHalted && onFailure == v1alpha1.OnFailureRevert && status.Previous != "" && !target.isFailed(status.Previous):
		state.revertTo(status.Previous, &member, target)
	case status.Revision == "" && gate.Fallback != nil:
		status.Revision, status.CompletionTime, state.IsNew = gate.Fallback.Revision, &gate.Fallback.CompletionTime, true
	}
	state.setWaitState(target)
	if status.Message == "" {
		status.Message = member.Rejection
	}
	return state
}

// isRetried reports whether a user requests to continue with the target revision, and the request has not been
// handled yet. The VectorSidecar must have the target revision, or have reverted from it. If a user also requests a
// revert, the revert takes precedence.
func (m *WaveMember) isRetried(status *v1alpha1.RolloutStatus, target *Target) bool {
	hasTarget := status.Revision == target.Revision || status.RevertedFrom == target.Revision
	return m.RevertTo == "" && !m.IsUndone && m.Retry != "" && m.Retry != status.LastHandledRetry && hasTarget
}

// revertTo reverts a VectorSidecar from the target revision to an earlier one.
func (s *RevisionState) revertTo(earlierRevision string, member *WaveMember, target *Target) {
	status := &s.Status
	status.RevertedFrom, status.Revision, status.Previous = target.Revision, earlierRevision, ""
	status.Generation, status.StartTime, status.CompletionTime, status.LastHandledRetry, s.IsNew = member.Generation, nil, nil, member.Retry, true
}

// handleUndo records that the VectorSidecar has handled a request to undo the published revision. Only a later retry
// request starts the revision again.
func (s *RevisionState) handleUndo(member WaveMember, target *Target) {
	status := &s.Status
	switch {
	case !target.IsUndone():
		status.LastHandledUndo = ""
	case status.LastHandledUndo != target.UndoRequest:
		status.LastHandledUndo, status.LastHandledRetry = target.UndoRequest, member.Retry
	}
}

// undoRevision reverts a VectorSidecar from the undone revision to an earlier one. Without an earlier revision, the
// VectorSidecar keeps the undone one.
func (s *RevisionState) undoRevision(member *WaveMember, target *Target) {
	switch earlierRevision := findEarlierRevision(&s.Status, s.Gate.Finished, target); {
	case earlierRevision != "":
		s.revertTo(earlierRevision, member, target)
	case target.Stored == nil:
		s.Gate.Message += "; the stored revisions could not be read"
	case s.Gate.IsKnown:
		s.Gate.Message += "; the VectorSidecar keeps its revision, because no VectorSidecar of its wave has finished a stored revision without failures"
	}
}

// findEarlierRevision returns the revision that a VectorSidecar returns to when the published revision is undone. It is the
// previous revision, or else the newest one that a VectorSidecar of the wave has finished. It returns "" for none.
// Failed revisions do not qualify.
func findEarlierRevision(status *v1alpha1.RolloutStatus, newest string, target *Target) string {
	if target.canReturnTo(status.Previous) {
		return status.Previous
	}
	return newest
}

// lastKnownGood returns the revision to revert to if the next one fails. A revision that the VectorSidecar has reverted to
// counts as good.
func lastKnownGood(status *v1alpha1.RolloutStatus, target *Target) string {
	isGood := (status.CompletionTime != nil || status.RevertedFrom != "") && status.FailedRevision != status.Revision
	switch {
	case isGood && !target.isFailed(status.Revision):
		return status.Revision
	case target.isFailed(status.Previous):
		return ""
	}
	return status.Previous
}

// MarkStarted records the start time of a new revision when its rollouts are about to start.
func (s *RevisionState) MarkStarted(now time.Time) {
	if status := &s.Status; status.CompletionTime == nil {
		start := metav1.NewTime(now.Truncate(time.Second))
		status.StartTime = &start
	}
}

// Reject cancels the start of a revision, because the revision cannot be stored or read back.
func (s *RevisionState) Reject(previous *v1alpha1.RolloutStatus, target *Target, reason string) {
	wave := s.Status.Wave
	s.Status, s.IsNew = v1alpha1.RolloutStatus{}, false
	if previous != nil {
		s.Status = *previous.DeepCopy()
	}
	s.Status.Wave, s.Gate.IsOpen, s.Gate.Message = wave, false, reason
	s.setWaitState(target)
}

// setWaitState sets the state and the message of a VectorSidecar that does not have the target revision, or that must not
// continue with it because it is halted.
func (s *RevisionState) setWaitState(target *Target) {
	status := &s.Status
	s.IsHeld = IsHeld(status, target, s.Gate.IsHalted)
	if status.Revision != target.Revision || s.Gate.IsHalted {
		status.State, status.Message = v1alpha1.RolloutWaiting, s.Gate.Message
	}
	switch {
	case status.RevertedFrom == target.Revision: // This applies even if it is not known yet whether the revision is halted.
		status.State = v1alpha1.RolloutReverted
	case s.Gate.IsHalted:
		status.State = v1alpha1.RolloutHalted
	}
}

// IsHeld reports whether only removals may be written for a VectorSidecar. It is true in three cases:
//
//   - The VectorSidecar does not have a revision.
//   - It has the target revision, which is halted.
//   - It has another revision that its workloads had not finished when the target was published, or that failed.
func IsHeld(status *v1alpha1.RolloutStatus, target *Target, isHalted bool) bool {
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

// Progress is the progress of a VectorSidecar with its revision, as observed in a reconcile.
type Progress struct {
	// IsStarted is true if a workload rolls out. IsDone is true if no workload rolls out or will roll out. IsPaused is
	// true if a workload would roll out, but spec.rollout.paused is true.
	IsStarted, IsDone, IsPaused bool
	// IsLate is true if workloads have waited for spec.rollout.maxAge and should get the revision now.
	IsLate bool
	// Workloads is the number of matched workloads. Evidence is the number of workloads with pods that have run the
	// sidecar.
	Workloads, Evidence int
	// Failed is the number of workloads that failed because of the sidecar. Unexplained is the number of workloads that
	// failed for an unknown cause. These do not count for a halt, but the revision is unfinished while there are any.
	Failed, Unexplained int
	// Failures describe the failed workloads. Their field Revision is not set.
	Failures []v1alpha1.RolloutFailure
	// Generation is the generation of the VectorSidecar.
	Generation int64
}

// Observe updates the status with the progress of the current revision. It returns the time when the result may
// change without an event, or zero for never.
func (s *RevisionState) Observe(progress Progress, wave int, target *Target, now time.Time) (nextCheck time.Time) {
	status := &s.Status
	isReverted := status.RevertedFrom == target.Revision
	if status.Revision != target.Revision && !isReverted {
		return s.Gate.Until
	}
	if isReverted {
		progress.Failed, progress.Unexplained = 0, 0 // The failures belong to the failed revision, or stop only this VectorSidecar.
	}
	if progress.Failed+progress.Unexplained > 0 && progress.Generation != status.Generation {
		progress.Failed, progress.Unexplained, progress.IsDone = 0, 0, true // Other VectorSidecars do not wait for failures that the owner caused.
	}
	status.Workloads, status.Evidence = int32(progress.Workloads), int32(progress.Evidence) //nolint:gosec // A cluster has fewer than two billion workloads.
	timestamp := metav1.NewTime(now.Truncate(time.Second))
	if progress.IsLate && status.CompletionTime != nil && !isReverted && s.Gate.IsOpen { // The rollout continues, and waves wait again.
		status.StartTime, status.CompletionTime, nextCheck = &timestamp, nil, now
		progress.IsDone = false
	}
	if progress.IsStarted && status.StartTime == nil && status.CompletionTime == nil {
		status.StartTime = &timestamp
	}
	if hasFailed := progress.Failed+progress.Unexplained > 0 || !isReverted && target.Rules.Halt != nil && status.FailedRevision == status.Revision; progress.IsDone && !progress.IsPaused && status.CompletionTime == nil && !hasFailed {
		status.CompletionTime = &timestamp
	}
	if status.Failures = mergeFailures(status.Failures, status.Revision, s.newFailures(progress, wave, target, now)); progress.Failed == 0 && status.CompletionTime != nil && !isReverted && status.FailedRevision != status.Revision {
		status.Failures = nil
	}
	if s.isWatched(wave, target, now) && progress.Failed > int(status.FailedWorkloads) {
		status.FailedRevision, status.FailedWorkloads, status.LastHandledInstallationRetry = status.Revision, int32(progress.Failed), target.Retry //nolint:gosec // A namespace has fewer than two billion workloads.
		status.LastHandledRetry = s.retry                                                                                                          // The revision was retried and halts again.
	}
	if s.IsHeld || isReverted {
		return s.Gate.Until
	}
	switch soaked := target.Rules.soak(wave); {
	case status.CompletionTime == nil && progress.IsDone && progress.IsPaused:
		status.State, status.Message = v1alpha1.RolloutPaused, "spec.rollout.paused is true"
	case status.CompletionTime == nil:
		status.State = v1alpha1.RolloutProgressing
		if progress.Unexplained > 0 {
			status.Message = fmt.Sprintf("%d workloads failed for an unknown reason: they stop this VectorSidecar, but do not halt the revision", progress.Unexplained)
		}
	case (status.StartTime != nil || status.LacksEvidence()) && now.Before(status.CompletionTime.Add(soaked)):
		status.State, nextCheck = v1alpha1.RolloutSoaking, status.CompletionTime.Add(soaked)
		status.Message = fmt.Sprintf("waiting for the soak of the wave until %s (rollout.waves)", nextCheck.UTC().Format(time.RFC3339))
	default:
		status.State = v1alpha1.RolloutComplete
	}
	return nextCheck
}

// newFailures returns the failures that count for the current revision.
func (s *RevisionState) newFailures(progress Progress, wave int, target *Target, now time.Time) []v1alpha1.RolloutFailure {
	if progress.Failed == 0 || !s.isWatched(wave, target, now) {
		return nil
	}
	return progress.Failures
}

// isWatched reports whether failures still count for the current revision.
func (s *RevisionState) isWatched(wave int, target *Target, now time.Time) bool {
	status := &s.Status
	return status.CompletionTime == nil || status.StartTime != nil && now.Before(status.CompletionTime.Add(target.Rules.watchTime(wave)))
}

// WatchedSince returns the start time of the rollouts with the target revision, and whether their failures still count.
func (s *RevisionState) WatchedSince(wave int, target *Target, now time.Time) (start time.Time, isWatched bool) {
	status := &s.Status
	if status.Revision != target.Revision || status.State == v1alpha1.RolloutPaused || status.StartTime == nil || !s.isWatched(wave, target, now) {
		return time.Time{}, false
	}
	return status.StartTime.Time, true
}
