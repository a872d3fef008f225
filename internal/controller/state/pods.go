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
	previousLooks, now := s.byWorkload, s.now()
	s.byWorkload = map[types.UID]podLook{}
	var dueRecords []*workloadcache.Record
	for _, record := range unsettled {
		podCheck, ok := previousLooks[record.UID]
		rolloutState := record.State()
		if !ok || podCheck.rollout != rolloutState.Rollout || !podCheck.isOf(record) {
			podCheck = podLook{record: record, rollout: rolloutState.Rollout, next: now}
			if rolloutState.Rollout == workload.RolloutProgressing {
				podCheck.next = rolloutState.StateSince.Add(startingPods)
			}
		}
		if !now.Before(podCheck.next) {
			longest := max(lastPodLook, time.Duration(len(unsettled))*podLookEach)
			if rolloutState.TimeInState(now) > newTrouble {
				longest = LastRetry
			}
			podCheck.wait = min(max(firstPodLook, podCheck.wait*3/2), longest)
			podCheck.next = now.Add(podCheck.wait)
			dueRecords = append(dueRecords, record)
		}
		s.byWorkload[record.UID] = podCheck
	}
	return append(dueRecords, s.watchedDue(previousLooks, watched)...)
}

// watchedDue returns those of the watched workloads.
func (s *podLooks) watchedDue(previousLooks map[types.UID]podLook, watched Watched) (dueRecords []*workloadcache.Record) {
	now, count := s.now(), len(watched.Records)
	round := time.Duration(count) * podLookEach
	shortest, longest := max(firstWatchedLook, round), max(lastWatchedLook, round)
	isAnew := !s.after.Equal(watched.After)
	s.after = watched.After
	for n, record := range watched.Records {
		podCheck, ok := previousLooks[record.UID]
		inTurn := now.Add(shortest * time.Duration(n+1) / time.Duration(count))
		switch {
		case !ok || isAnew || podCheck.rollout == workload.RolloutProgressing || !podCheck.isOf(record): // One after another.
			podCheck = podLook{record: record, rollout: record.Rollout(), next: inTurn, wait: shortest}
		case podCheck.rollout != record.Rollout(): // Its pods have just come back.
			podCheck = podLook{record: record, rollout: record.Rollout(), next: now, wait: shortest}
		}
		switch {
		case now.Before(podCheck.next):
		case len(dueRecords) == watchedAtOnce:
			podCheck.next = inTurn
		default:
			podCheck.wait = min(podCheck.wait*3/2, longest)
			podCheck.next = now.Add(podCheck.wait)
			dueRecords = append(dueRecords, record)
		}
		s.byWorkload[record.UID] = podCheck
	}
	return dueRecords
}

// SetFault records what keeps the pods of a workload from running, if they could be read. It
// reports whether it is new that they could not.
func (s *podLooks) SetFault(target types.UID, fault workload.Fault, isSeen bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	podCheck := s.byWorkload[target]
	isNews := !isSeen && !podCheck.isTold
	podCheck.fault, podCheck.isSeen, podCheck.isTold = fault, isSeen, !isSeen
	s.byWorkload[target] = podCheck
	return isNews
}

// Faults returns what keeps pods from running, or no fault, for the workloads that could be read.
func (s *podLooks) Faults() map[types.UID]workload.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := map[types.UID]workload.Fault{}
	for uid, podCheck := range s.byWorkload {
		if podCheck.isSeen {
			faults[uid] = podCheck.fault
		}
	}
	return faults
}

// NextPodLook returns how long to wait before pods are read again, 0 for never.
func (s *podLooks) NextPodLook() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait, now := time.Duration(0), s.now()
	for _, podCheck := range s.byWorkload {
		remaining := max(podCheck.next.Sub(now), time.Millisecond)
		if wait == 0 || remaining < wait {
			wait = remaining
		}
	}
	return wait
}
