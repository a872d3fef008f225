// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

const (
	// startingPods is how long a rollout may take before its pods are read. Most are done by then
	// and cost nothing.
	startingPods = 2 * time.Second
	// firstPodLook and lastPodLook are the waits between two reads, each 1.5 times the one before:
	// what is wrong shows in the status within 10 s. Where many workloads are read it takes longer,
	// podLookEach for each of them, so that no more than two are read in three seconds. If the
	// state has lasted longer than newTrouble, the wait grows further.
	firstPodLook, lastPodLook = 2 * time.Second, 6 * time.Second
	podLookEach               = 1500 * time.Millisecond
	newTrouble                = 10 * time.Minute
	// firstWatchedLook and lastWatchedLook are the waits between two reads of a workload that is
	// watched and whose pods all run, each 1.5 times the one before; podLookEach for each of them if
	// that is longer.
	firstWatchedLook, lastWatchedLook = 10 * time.Second, time.Minute
	// watchedAtOnce is how many of them are read in one pass, if many are overdue.
	watchedAtOnce = 20
)

// podLook is the last read of a workload's pods.
type podLook struct {
	// record is the workload as it was, and rollout its rollout; if it has another pod template since, what
	// was seen says nothing, and if the rollout has changed, the pods are read again.
	record  *workloadcache.Record
	rollout workload.Rollout
	next    time.Time
	wait    time.Duration
	isSeen  bool
	isTold  bool // true if it has been logged that they cannot be read
	fault   workload.Fault
}

// isOf reports whether the pods that were read are of the workload's present template.
func (l *podLook) isOf(record *workloadcache.Record) bool {
	return record.HasSameTemplate(l.record)
}

// podLooks are the last reads of the pods of a VectorSidecar's workloads.
type podLooks struct {
	*shared

	byWorkload map[types.UID]podLook
	// after is that of the last watch.
	after time.Time
}

// Watched are settled workloads whose pods are read all the same.
type Watched struct {
	Records []*workloadcache.Record
	// After is when a person let a failed rollout go on: what was seen before says nothing.
	After time.Time
}

// PodsDue returns those of the unsettled and the watched workloads whose pods are due to be read, and
// drops what was seen of all others.
func (s *podLooks) PodsDue(unsettled []*workloadcache.Record, watched Watched) []*workloadcache.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.byWorkload)+len(unsettled)+len(watched.Records) == 0 {
		return nil
	}
	before, now := s.byWorkload, s.now()
	s.byWorkload = map[types.UID]podLook{}
	var due []*workloadcache.Record
	for _, record := range unsettled {
		look, known := before[record.UID]
		is := record.State()
		if !known || look.rollout != is.Rollout || !look.isOf(record) {
			look = podLook{record: record, rollout: is.Rollout, next: now}
			if is.Rollout == workload.RolloutProgressing {
				look.next = is.StateSince.Add(startingPods)
			}
		}
		if !now.Before(look.next) {
			longest := max(lastPodLook, time.Duration(len(unsettled))*podLookEach)
			if is.TimeInState(now) > newTrouble {
				longest = LastRetry
			}
			look.wait = min(max(firstPodLook, look.wait*3/2), longest)
			look.next = now.Add(look.wait)
			due = append(due, record)
		}
		s.byWorkload[record.UID] = look
	}
	return append(due, s.watchedDue(before, watched)...)
}

// watchedDue returns those of the watched workloads.
func (s *podLooks) watchedDue(before map[types.UID]podLook, watched Watched) (due []*workloadcache.Record) {
	now, all := s.now(), len(watched.Records)
	round := time.Duration(all) * podLookEach
	first, longest := max(firstWatchedLook, round), max(lastWatchedLook, round)
	isAnew := !s.after.Equal(watched.After)
	s.after = watched.After
	for n, record := range watched.Records {
		look, known := before[record.UID]
		inTurn := now.Add(first * time.Duration(n+1) / time.Duration(all))
		switch {
		case !known || isAnew || look.rollout == workload.RolloutProgressing || !look.isOf(record): // One after another.
			look = podLook{record: record, rollout: record.Rollout(), next: inTurn, wait: first}
		case look.rollout != record.Rollout(): // Its pods have just come back.
			look = podLook{record: record, rollout: record.Rollout(), next: now, wait: first}
		}
		switch {
		case now.Before(look.next):
		case len(due) == watchedAtOnce:
			look.next = inTurn
		default:
			look.wait = min(look.wait*3/2, longest)
			look.next = now.Add(look.wait)
			due = append(due, record)
		}
		s.byWorkload[record.UID] = look
	}
	return due
}

// SetFault records what keeps the pods of a workload from running, if they could be read. It
// reports whether it is new that they could not.
func (s *podLooks) SetFault(target types.UID, fault workload.Fault, isSeen bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	look := s.byWorkload[target]
	isNews := !isSeen && !look.isTold
	look.fault, look.isSeen, look.isTold = fault, isSeen, !isSeen
	s.byWorkload[target] = look
	return isNews
}

// Faults returns what keeps pods from running, or no fault, for the workloads that could be read.
func (s *podLooks) Faults() map[types.UID]workload.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := map[types.UID]workload.Fault{}
	for uid, look := range s.byWorkload {
		if look.isSeen {
			faults[uid] = look.fault
		}
	}
	return faults
}

// NextPodLook returns how long to wait before pods are read again, 0 for never.
func (s *podLooks) NextPodLook() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait, now := time.Duration(0), s.now()
	for _, look := range s.byWorkload {
		left := max(look.next.Sub(now), time.Millisecond)
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return wait
}
