// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// State is how far a workload is. It moves on while what is planned for the workload
// stays the same.
type State struct {
	// ResourceVersion and Generation are the API server's.
	ResourceVersion string
	Generation      int64
	// Seen is the first version, as far as is remembered, that looked as this one
	// does: what is refused to one of them is refused to the others.
	Seen string
	// Rollout is how far the workload's own rollout is.
	Rollout Rollout
	// Refusal is what the API server says if it refuses to make its pods, else "".
	Refusal string
	Availability
}

// StateOf reads the state of a workload.
func StateOf(object Object) State {
	content := contentOf(object)
	return stateOf(object, &content)
}

func stateOf(object metav1.Object, content *Content) State {
	version := object.GetResourceVersion()
	return State{
		ResourceVersion: version, Generation: object.GetGeneration(), Seen: version,
		Rollout: content.Rollout, Refusal: content.Refusal, Availability: availabilityOf(object, content),
	}
}

// Availability is for how long all pods of a workload have been available since its last
// rollout. It is the workload's own, whoever asks.
type Availability struct {
	// RolledOut is when the last rollout finished, by the workload's own word: its
	// controller's clock, in whole seconds. It is zero while one goes on, and always for
	// a workload that does not say.
	RolledOut time.Time
	// Since is when the workload got to where its rollout is. Zero is long ago.
	Since time.Time
	// Steady is the longest time for which all pods were available, between RolledOut
	// and Since.
	Steady time.Duration
	// IsAssumed reports whether nobody has watched all that time, so that Steady is
	// what it is if pods became unavailable but once.
	IsAssumed bool
}

// availabilityOf reads as much from a workload as it tells by itself: when its status
// last changed, which the API server keeps on record. So nothing has to be written down
// to know it after a restart.
func availabilityOf(object metav1.Object, content *Content) Availability {
	read := Availability{RolledOut: content.RolledOut, Since: statusChanged(object), IsAssumed: true}
	if content.Rollout != RolloutProgressing && !read.RolledOut.IsZero() && read.Since.After(read.RolledOut) {
		read.Steady = read.Since.Sub(read.RolledOut)
	}
	return read
}

// statusChanged is when the status of a workload was last changed, by the managed
// fields: when it was created for one that no controller has seen yet. It is zero for
// one that is no API server's.
func statusChanged(object metav1.Object) time.Time {
	last, entries := object.GetCreationTimestamp().Time, object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// Steadiest is the longest time for which all pods have been available since the last
// rollout, the time that goes on included.
func (s *State) Steadiest(now time.Time) time.Duration {
	if s.Rollout != RolloutComplete {
		return s.Steady
	}
	return max(s.Steady, s.For(now))
}

// For is how long the workload has been where its rollout is.
func (s *State) For(now time.Time) time.Duration {
	if s.Since.IsZero() {
		return math.MaxInt64
	}
	return now.Sub(s.Since)
}

// Follow carries on what is known of the state before. Another rollout than that one's
// is known by the time when it finished, or by another template with another generation:
// scaling gives another generation, too, and is no rollout.
func (s *State) Follow(before *State, isSameTemplate bool, now time.Time) {
	isSameRollout := !s.RolledOut.IsZero() && s.RolledOut.Equal(before.RolledOut) && (isSameTemplate || s.Generation == before.Generation)
	if s.Rollout == before.Rollout && (isSameRollout || s.RolledOut.IsZero()) {
		s.Since, s.Steady, s.IsAssumed = before.Since, before.Steady, before.IsAssumed
		return
	}
	s.Since, s.Steady, s.IsAssumed = now, 0, false
	if isSameRollout {
		s.Steady, s.IsAssumed = before.Steadiest(now), before.IsAssumed
	}
}
