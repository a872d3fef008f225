// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State is the state of a workload that may change without a change of its plan: its rollout, and its versions.
type State struct {
	// ResourceVersion and Generation are the values from the API server.
	ResourceVersion string
	Generation      int64
	// Created is the creation time of the workload.
	Created time.Time
	// EquivalentVersion is the first resourceVersion from which on the content for planning is the same. If the API
	// server rejected a write at that version, it would reject the write again now.
	EquivalentVersion string
	// Rollout is the state of the workload's rollout.
	Rollout Rollout
	// Refusal describes a request of the controller that the API server rejected, or is "" if no request was
	// rejected.
	Refusal string
	Progress
	Availability
	// MaxProgress is the highest ProgressCount during this rollout. It does not grow when a new pod is replaced by
	// another one.
	MaxProgress int32
	// IsBegun is true if the operator has observed the start of a rollout, and the status does not show the end of such
	// a rollout.
	IsBegun bool
	// IsUnobserved is true if the status is not for the newest generation yet.
	IsUnobserved bool
	// IsOutlived reports whether the missed deadline in the status (Missed) is the deadline of an earlier template.
	// After a return to an older ReplicaSet, the Deployment controller keeps the missed deadline in the status until
	// one more pod of that ReplicaSet runs.
	IsOutlived bool
	// Overwritten is the time of the operator's write because of which IsOutlived was assumed. The assumption may be
	// wrong, because the write may have changed only annotations. It is zero if an earlier state of the workload shows
	// that the write changed the template.
	Overwritten time.Time
	// Template is a digest of the pod template without the operator's fields.
	Template uint64
	// Shape is the ShapeDigest of the workload, or 0 if the digest is not needed.
	Shape uint64
	// Waits are the records of the changes that the workload waits for, by annotation key (AnnotationWaiting), or nil
	// for none.
	Waits map[string]Wait
}

// ReadState returns the rollout state of a workload.
func ReadState(object Object) State {
	content := readContent(object)
	return content.State(object)
}

// State returns the rollout state of the workload with this content, without the digest of the pod template.
func (c *Content) State(object metav1.Object) State {
	content := c
	version, overwritten := object.GetResourceVersion(), time.Time{}
	if content.Rollout == RolloutFailed && content.Missed != 0 {
		overwritten = overwriteTime(object, content.Missed)
	}
	if !overwritten.IsZero() {
		current := *content
		current.Rollout, content = RolloutProgressing, &current
	}
	state := State{
		ResourceVersion: version, Generation: object.GetGeneration(), Created: object.GetCreationTimestamp().Time, EquivalentVersion: version,
		Rollout: content.Rollout, IsUnobserved: !content.Observed, Refusal: content.Refusal, Progress: content.Progress, Availability: readAvailability(object, content),
		MaxProgress: content.ProgressCount, IsOutlived: !overwritten.IsZero(), Overwritten: overwritten, Waits: readWaits(object.GetAnnotations()),
	}
	state.StateSince = maxTime(state.StateSince, overwritten)
	return state
}

// overwriteTime returns the time of the operator's last write if the write was after a missed progress deadline and may
// have changed the template. Otherwise, it returns zero. The workload's controller writes the status after each change
// of the template, so a status that is older than the write shows that the template did not change. missed is the time
// of the deadline in Unix seconds, or 0.
func overwriteTime(object metav1.Object, missed uint32) time.Time {
	written, reported := lastWriteTime(object), entryTime(object, "status")
	if written.Unix() < int64(missed) || !reported.IsZero() && reported.Before(written) {
		return time.Time{}
	}
	return written
}

// RunBy returns the state of a workload with pods that another workload, the runner, runs. The result has the rollout
// of the runner. observedGeneration is the generation of this workload that the runner's controller has observed, or 0
// if the runner does not report it.
func (s *State) RunBy(runner *State, observedGeneration int64) State {
	state := *runner
	state.ResourceVersion, state.Generation, state.Created, state.EquivalentVersion = s.ResourceVersion, s.Generation, s.Created, s.EquivalentVersion
	state.Shape = s.Shape
	if observedGeneration != 0 && observedGeneration < s.Generation {
		state.Rollout, state.ProgressCount, state.HeldReason = RolloutProgressing, 0, ""
	}
	return state
}

// EquivalentTo reports whether planning has the same result for this state and for the previous state. Their versions
// may differ.
func (s *State) EquivalentTo(previous *State) bool {
	// While a rollout is in progress, it is irrelevant how many pods have run the template.
	hasSameEvidence := s.Idle == previous.Idle && (s.Rollout == RolloutProgressing || (s.Evidence > 0) == (previous.Evidence > 0))
	return hasSameEvidence && s.Rollout == previous.Rollout && s.Shape == previous.Shape && s.Refusal == previous.Refusal && s.IsBetween == previous.IsBetween && s.hasSameWaits(previous)
}

// Availability records for how long all pods of a workload have been available since its last rollout. It does not
// depend on VectorSidecars.
type Availability struct {
	// RolledOut is the time when the last rollout finished, according to the workload's status, in whole seconds. It is
	// zero during a rollout, and for kinds that do not record the time.
	RolledOut time.Time
	// StateSince is the time when the rollout entered its current state or last made progress. If it is zero, that was
	// a long time ago.
	StateSince time.Time
	// Steady is the longest time for which all pods were available without interruption, between RolledOut and
	// StateSince.
	Steady time.Duration
	// IsAssumed is true if the operator did not watch the workload during the time of Steady. Steady then assumes that
	// there was only one interruption.
	IsAssumed bool
}

// readAvailability returns the availability according to the workload. It reads the time of the last status
// change from managedFields, so that a restart of the operator does not lose that time.
func readAvailability(object metav1.Object, content *Content) Availability {
	read := Availability{RolledOut: content.RolledOut, StateSince: lastChangeTime(object, "status"), IsAssumed: true}
	if content.Rollout == RolloutProgressing && !content.Observed && read.RolledOut.IsZero() {
		// The status is newer than the template, so StateSince is the time of the status.
		read.StateSince = maxTime(read.StateSince, lastChangeTime(object, ""))
	}
	isSoaking := content.Rollout != RolloutProgressing && (content.Rollout != RolloutComplete || content.Evidence > 0)
	if isSoaking && !read.RolledOut.IsZero() && read.StateSince.After(read.RolledOut) {
		read.Steady = read.StateSince.Sub(read.RolledOut)
	}
	return read
}

// lastChangeTime returns the time of the last write of a subresource, or of the object itself for the subresource "",
// from managedFields. If managedFields do not contain that time, it returns the creation time, which is zero for an
// object from a file.
func lastChangeTime(object metav1.Object, subresource string) time.Time {
	return maxTime(object.GetCreationTimestamp().Time, entryTime(object, subresource))
}

// entryTime returns the time of the newest managedFields entry for a subresource, or zero for none.
func entryTime(object metav1.Object, subresource string) (last time.Time) {
	entries := object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; entry.Subresource == subresource && entry.Time != nil {
			last = maxTime(last, entry.Time.Time)
		}
	}
	return last
}

// maxTime returns the later one of two times.
func maxTime(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// LongestAvailability returns the longest time for which all pods have been available without interruption since the
// last rollout, up to now. A time without pods does not count.
func (s *State) LongestAvailability(now time.Time) time.Duration {
	if s.Rollout != RolloutComplete || s.LacksPods() {
		return s.Steady
	}
	return max(s.Steady, s.TimeInState(now))
}

// Deadline is the maximum time of a rollout without progress, if the status does not report a missed deadline. A
// rollout makes progress if one more pod has the template or becomes available. The value is the default of
// progressDeadlineSeconds of a Deployment.
const Deadline = 10 * time.Minute

// IsOverdue reports whether a rollout has made no progress for Deadline, and returns the remaining time. It returns
// false and 0 for kinds with a status that reports missed deadlines.
func (s *State) IsOverdue(kind *Kind, now time.Time) (isOverdue bool, remaining time.Duration) {
	// The Deployment controller does not check the deadline if it cannot create the ReplicaSet.
	isChecked := kind.Traits.HasDeadline && !s.IsOutlived && (s.Refusal == "" || !s.IsUnobserved)
	if s.Rollout != RolloutProgressing || isChecked {
		return false, 0
	}
	remaining = Deadline - s.TimeInState(now)
	return remaining <= 0, max(remaining, 0)
}

// TimeInState returns for how long the rollout has been in its current state. It returns 0 if now is zero, which means
// that the current time is unknown.
func (s *State) TimeInState(now time.Time) time.Duration {
	switch {
	case s.StateSince.IsZero():
		return math.MaxInt64
	case now.IsZero():
		return 0
	}
	return now.Sub(s.StateSince)
}

// CarryOver copies the values, such as start times, that only the previous state of the same workload has. The times
// start again if another rollout has started: the rollout finished at another time, or both the template and the
// generation have changed. Scaling changes only the generation and does not start a rollout.
func (s *State) CarryOver(previous *State, isSameTemplate bool, now time.Time) {
	if isSameTemplate && s.IsUnobserved {
		s.copyRollout(previous)
		return
	}
	s.updateIsOutlived(previous, isSameTemplate)
	if isSameTemplate && s.IsHeldByWrite && previous.Rollout == RolloutComplete {
		s.Rollout, s.HeldReason, s.Old = RolloutComplete, "", 0
	}
	if isSameTemplate && s.IsByRuns { // The next run may be in progress.
		s.Evidence = max(s.Evidence, previous.Evidence)
	}
	if s.Newest != 0 && s.continueRollout(previous, isSameTemplate) {
		s.StateSince, s.Steady, s.IsAssumed = now, 0, false
		return
	}
	isSameRollout := !s.RolledOut.IsZero() && s.RolledOut.Equal(previous.RolledOut) && (isSameTemplate || s.Generation == previous.Generation)
	if s.Rollout == previous.Rollout && s.LacksPods() == previous.LacksPods() && (isSameRollout || s.RolledOut.IsZero()) {
		s.StateSince, s.Steady, s.IsAssumed = previous.StateSince, previous.Steady, previous.IsAssumed
		return
	}
	s.StateSince, s.Steady, s.IsAssumed = now, 0, false
	if isSameRollout {
		s.Steady, s.IsAssumed = previous.LongestAvailability(now), previous.IsAssumed
	}
}

// copyRollout copies the rollout from the previous state. It is used until the workload's controller has observed a
// change that does not concern the pod template, such as a new number of replicas.
func (s *State) copyRollout(previous *State) {
	s.Rollout, s.Progress, s.Availability = previous.Rollout, previous.Progress, previous.Availability
	s.MaxProgress, s.IsBegun, s.IsOutlived, s.Overwritten = previous.MaxProgress, previous.IsBegun, previous.IsOutlived, previous.Overwritten
}

// updateIsOutlived sets IsOutlived if the previous state shows whether the missed deadline is the deadline of an
// earlier template. Otherwise, IsOutlived keeps the value that follows from the workload itself.
func (s *State) updateIsOutlived(previous *State, isSameTemplate bool) {
	if s.Missed == 0 {
		return
	}
	wasRead, isSame := s.IsOutlived, s.Missed == previous.Missed
	switch {
	case isSameTemplate && (!isSame || previous.Rollout == RolloutFailed): // The operator's write did not change the template.
		s.IsOutlived, s.Overwritten = false, time.Time{}
	case isSame && isSameTemplate: // The previous state contains the certainty.
		s.IsOutlived, s.Overwritten = wasRead || previous.IsOutlived, previous.Overwritten
	case isSame:
		s.IsOutlived, s.Overwritten = true, time.Time{}
	}
	switch {
	case s.IsOutlived && s.Rollout == RolloutFailed:
		s.Rollout = RolloutProgressing
	case wasRead && !s.IsOutlived:
		s.Rollout = RolloutFailed
	}
}

// continueRollout sets the progress of a rollout for kinds with a status that does not show the end of a rollout. Such
// a rollout is in progress until all pods have been available once. It returns true if the rollout has started or made
// progress.
func (s *State) continueRollout(previous *State, isSameTemplate bool) bool {
	if !isSameTemplate && s.Generation != previous.Generation || s.Newest != previous.Newest {
		s.IsBegun = s.Rollout == RolloutProgressing || s.Rollout == RolloutUnavailable
		s.resumeProgressing()
		return true
	}
	s.IsBegun = previous.IsBegun
	s.resumeProgressing()
	if s.Rollout != RolloutProgressing {
		s.IsBegun = false
		return false
	}
	s.MaxProgress = max(s.MaxProgress, previous.MaxProgress)
	return s.MaxProgress > previous.MaxProgress
}

// resumeProgressing sets Rollout to RolloutProgressing if a rollout has started and pods are still missing.
func (s *State) resumeProgressing() {
	if s.IsBegun && s.MayContinue {
		s.Rollout = RolloutProgressing
	}
}

// Resume marks the rollout as started. Callers use it if only another source shows the start, such as the status of the
// VectorSidecar after a restart of the operator.
func (s *State) Resume() {
	s.IsBegun = s.RolledOut.IsZero()
	s.resumeProgressing()
}
