// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State is the rollout state of a workload. It changes while the plan for the workload
// stays the same.
type State struct {
	// ResourceVersion and Generation are the API server's.
	ResourceVersion string
	Generation      int64
	// Created is when the workload was created.
	Created time.Time
	// Seen is the first known resourceVersion that looked like this one: what the API
	// server refused for it, it refuses now.
	Seen string
	// Rollout is the state of the workload's own rollout.
	Rollout Rollout
	// Refusal says what the API server rejects that the controller needs, "" for nothing.
	Refusal string
	Progress
	Availability
	// Most is the highest Done of this rollout: a pod that comes and goes is no progress.
	Most int32
	// IsBegun reports whether a rollout was seen to begin whose end the status will not say.
	IsBegun bool
	// IsUnobserved reports whether the workload's controller has not seen the newest generation yet.
	IsUnobserved bool
	// IsOutlived reports whether Missed is of a template before: the Deployment controller leaves it in the
	// status where pods of an older ReplicaSet are to come back, until one more of them runs.
	IsOutlived bool
	// Overwritten is the time of the operator's write from which IsOutlived follows, zero if an earlier state of the
	// workload tells: only then it is certain that the write changed the pod template.
	Overwritten time.Time
	// Template is a digest of the pod template without what is ours.
	Template uint64
	// Shape is its ShapeDigest, 0 if nobody needs it.
	Shape uint64
	// Waits are the notes since when it waits for changes, by AnnotationWaiting; nil for none.
	Waits map[string]Wait
}

// StateOf reads the state of a workload.
func StateOf(object Object) State {
	content := contentOf(object)
	return stateOf(object, &content)
}

func stateOf(object metav1.Object, content *Content) State {
	version, overwritten := object.GetResourceVersion(), time.Time{}
	if content.Rollout == RolloutFailed && content.Missed != 0 {
		overwritten = overwrittenAt(object, content.Missed)
	}
	if !overwritten.IsZero() {
		current := *content
		current.Rollout, content = RolloutProgressing, &current
	}
	state := State{
		ResourceVersion: version, Generation: object.GetGeneration(), Created: object.GetCreationTimestamp().Time, Seen: version,
		Rollout: content.Rollout, IsUnobserved: !content.Observed, Refusal: content.Refusal, Progress: content.Progress, Availability: availabilityOf(object, content),
		Most: content.Done, IsOutlived: !overwritten.IsZero(), Overwritten: overwritten, Waits: waitsIn(object.GetAnnotations()),
	}
	state.Since = later(state.Since, overwritten)
	return state
}

// overwrittenAt returns when the operator wrote an object after a progress deadline had passed, if that write may have
// changed the pod template, else zero. A template has another generation, which the controller records in the status
// after the write. So a write that is newer than the status did not change the template. A write that is older may have
// changed annotations alone; only an earlier state tells. No deadline is as short as the second to which the times are
// known.
func overwrittenAt(object metav1.Object, missed uint32) time.Time {
	written, reported := writtenAt(object), entryTime(object, "status")
	if written.Unix() < int64(missed) || !reported.IsZero() && reported.Before(written) {
		return time.Time{}
	}
	return written
}

// RunBy returns the state of a workload whose pods another one runs, whose controller has
// seen a generation of the workload, 0 if it does not say: the rollout is that one's.
func (s *State) RunBy(runner *State, seen int64) State {
	state := *runner
	state.ResourceVersion, state.Generation, state.Created, state.Seen = s.ResourceVersion, s.Generation, s.Created, s.Seen
	state.Shape = s.Shape
	if seen != 0 && seen < s.Generation {
		state.Rollout, state.Done, state.Held = RolloutProgressing, 0, ""
	}
	return state
}

// LooksLike reports whether planning sees the same in the state before, except for versions.
func (s *State) LooksLike(before *State) bool {
	// A rollout in progress is no success, whatever its evidence.
	hasSameEvidence := s.Idle == before.Idle && (s.Rollout == RolloutProgressing || (s.Evidence > 0) == (before.Evidence > 0))
	return hasSameEvidence && s.Rollout == before.Rollout && s.Shape == before.Shape && s.Refusal == before.Refusal && s.IsBetween == before.IsBetween && s.waitsLike(before)
}

// Availability is how long all pods of a workload have been available since its last
// rollout. It depends on the workload alone.
type Availability struct {
	// RolledOut is when the last rollout finished by the workload's status: its
	// controller's clock, in whole seconds. It is zero while one goes on, and for
	// workloads that do not say.
	RolledOut time.Time
	// Since is when the rollout got to its state, or last got on. Zero is long ago.
	Since time.Time
	// Steady is the longest time during which all pods were available, between
	// RolledOut and Since.
	Steady time.Duration
	// IsAssumed reports whether nobody watched all that time, so that Steady assumes
	// that pods became unavailable only once.
	IsAssumed bool
}

// availabilityOf returns what the workload alone says: managedFields record when its
// status last changed. So nothing has to be stored to know it after a restart.
func availabilityOf(object metav1.Object, content *Content) Availability {
	read := Availability{RolledOut: content.RolledOut, Since: changedAt(object, "status"), IsAssumed: true}
	if content.Rollout == RolloutProgressing && !content.Observed && read.RolledOut.IsZero() {
		// Otherwise the status is newer than the template, and later writes did not change the template.
		read.Since = later(read.Since, changedAt(object, ""))
	}
	isSoaking := content.Rollout != RolloutProgressing && (content.Rollout != RolloutComplete || content.Evidence > 0)
	if isSoaking && !read.RolledOut.IsZero() && read.Since.After(read.RolledOut) {
		read.Steady = read.Since.Sub(read.RolledOut)
	}
	return read
}

// changedAt returns when a subresource last changed according to managedFields, "" for the
// object itself: the creation time if nobody has written it since, zero if it is not from
// an API server.
func changedAt(object metav1.Object, subresource string) time.Time {
	return later(object.GetCreationTimestamp().Time, entryTime(object, subresource))
}

// entryTime returns the time of the newest managedFields entry of a subresource, zero if it has none.
func entryTime(object metav1.Object, subresource string) (last time.Time) {
	entries := object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; entry.Subresource == subresource && entry.Time != nil {
			last = later(last, entry.Time.Time)
		}
	}
	return last
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// Steadiest returns the longest time during which all pods have been available since
// the last rollout, including now. Time without any pod does not count.
func (s *State) Steadiest(now time.Time) time.Duration {
	if s.Rollout != RolloutComplete || s.LacksPods() {
		return s.Steady
	}
	return max(s.Steady, s.For(now))
}

// Deadline is how long a rollout may go on without one more pod that has the template or is
// available, for kinds whose status has no such deadline: the default of a Deployment's
// progressDeadlineSeconds.
const Deadline = 10 * time.Minute

// Overdue reports whether a rollout has passed the deadline, and how long it has until then,
// 0 where the status will say so itself.
func (s *State) Overdue(kind *Kind, now time.Time) (isOverdue bool, remaining time.Duration) {
	// The Deployment controller does not check the deadline if it cannot create the ReplicaSet.
	isChecked := kind.Traits.HasDeadline && !s.IsOutlived && (s.Refusal == "" || !s.IsUnobserved)
	if s.Rollout != RolloutProgressing || isChecked {
		return false, 0
	}
	remaining = Deadline - s.For(now)
	return remaining <= 0, max(remaining, 0)
}

// For returns how long the rollout has been in its state.
func (s *State) For(now time.Time) time.Duration {
	if s.Since.IsZero() {
		return math.MaxInt64
	}
	return now.Sub(s.Since)
}

// Follow carries over what is known from the state before. It is another rollout if it
// finished at another time, or if both template and generation differ: scaling changes
// the generation, too, and is no rollout.
func (s *State) Follow(before *State, isSameTemplate bool, now time.Time) {
	if isSameTemplate && s.IsUnobserved {
		s.keepRollout(before)
		return
	}
	s.followDeadline(before, isSameTemplate)
	if isSameTemplate && s.IsHeldByWrite && before.Rollout == RolloutComplete {
		s.Rollout, s.Held, s.Old = RolloutComplete, "", 0
	}
	if isSameTemplate && s.IsByRuns { // The next run may be in progress.
		s.Evidence = max(s.Evidence, before.Evidence)
	}
	if s.Newest != 0 && s.goOn(before, isSameTemplate) {
		s.Since, s.Steady, s.IsAssumed = now, 0, false
		return
	}
	isSameRollout := !s.RolledOut.IsZero() && s.RolledOut.Equal(before.RolledOut) && (isSameTemplate || s.Generation == before.Generation)
	if s.Rollout == before.Rollout && s.LacksPods() == before.LacksPods() && (isSameRollout || s.RolledOut.IsZero()) {
		s.Since, s.Steady, s.IsAssumed = before.Since, before.Steady, before.IsAssumed
		return
	}
	s.Since, s.Steady, s.IsAssumed = now, 0, false
	if isSameRollout {
		s.Steady, s.IsAssumed = before.Steadiest(now), before.IsAssumed
	}
}

// keepRollout keeps the rollout of the state before: the controller has not seen a change yet that does not concern the pod
// template, such as another number of replicas.
func (s *State) keepRollout(before *State) {
	s.Rollout, s.Progress, s.Availability = before.Rollout, before.Progress, before.Availability
	s.Most, s.IsBegun, s.IsOutlived, s.Overwritten = before.Most, before.IsBegun, before.IsOutlived, before.Overwritten
}

// followDeadline tells whether the deadline that has passed is of a template before. Where the state before does not say,
// it is what was read.
func (s *State) followDeadline(before *State, isSameTemplate bool) {
	if s.Missed == 0 {
		return
	}
	wasRead, isSame := s.IsOutlived, s.Missed == before.Missed
	switch {
	case isSameTemplate && (!isSame || before.Rollout == RolloutFailed): // What the operator has written is no template.
		s.IsOutlived, s.Overwritten = false, time.Time{}
	case isSame && isSameTemplate: // The state before says how certain that is.
		s.IsOutlived, s.Overwritten = wasRead || before.IsOutlived, before.Overwritten
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

// goOn follows a rollout of which the status does not say when it finished: it goes on
// until all pods were available once. It reports whether it has begun or got on.
func (s *State) goOn(before *State, isSameTemplate bool) bool {
	if !isSameTemplate && s.Generation != before.Generation || s.Newest != before.Newest {
		s.IsBegun = s.Rollout == RolloutProgressing || s.Rollout == RolloutUnavailable
		s.resume()
		return true
	}
	s.IsBegun = before.IsBegun
	s.resume()
	if s.Rollout != RolloutProgressing {
		s.IsBegun = false
		return false
	}
	s.Most = max(s.Most, before.Most)
	return s.Most > before.Most
}

// resume takes a rollout that has begun for unfinished while pods are missing.
func (s *State) resume() {
	if s.IsBegun && s.MayGoOn {
		s.Rollout = RolloutProgressing
	}
}

// Resume is for a rollout that is known to have begun from elsewhere, such as after a
// restart.
func (s *State) Resume() {
	s.IsBegun = s.RolledOut.IsZero()
	s.resume()
}
