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
	// startingPods is the time that a rollout may take before its pods are read. Most rollouts finish earlier, so
	// their pods are never read.
	startingPods = 2 * time.Second
	// firstPodLook and lastPodLook are the first and the longest wait between two reads of the pods of a workload.
	// Each wait is 1.5 times the one before, so a pod error shows in the status within 10 s. With many workloads, the
	// longest wait is podLookEach for each workload, so at most two workloads are read in three seconds. If the
	// rollout state has lasted longer than newTrouble, the wait grows further.
	firstPodLook, lastPodLook = 2 * time.Second, 6 * time.Second
	podLookEach               = 1500 * time.Millisecond
	newTrouble                = 10 * time.Minute
	// firstWatchedLook and lastWatchedLook are the same waits for a watched workload. With many workloads, they are
	// at least podLookEach for each workload.
	firstWatchedLook, lastWatchedLook = 10 * time.Second, time.Minute
	// watchedAtOnce is the maximum number of watched workloads that one reconcile reads if many are overdue.
	watchedAtOnce = 20
)

// podLook is the last read of the pods of a workload.
type podLook struct {
	// record and rollout are the workload and its rollout at the last read. If the pod template changed after that, the
	// result does not apply anymore. If the rollout changed, the pods are read again.
	record  *workloadcache.Record
	rollout workload.Rollout
	// next is the time of the next read, and wait the wait before it. isSeen is true if the pods could be read.
	next   time.Time
	wait   time.Duration
	isSeen bool
	// isTold is true if the failure to read the pods was logged. fault is the error of the pods.
	isTold bool // true if the failure to read the pods was logged
	fault  workload.Fault
}

// isForTemplate reports whether the pods that were read have the workload's current template.
func (l *podLook) isForTemplate(record *workloadcache.Record) bool {
	return record.HasSameTemplate(l.record)
}

// WatchedWorkloads are ready workloads for which pods are read, too, to find restarts.
type WatchedWorkloads struct {
	Records []*workloadcache.Record
	// RetryTime is the time when a user retried a failed rollout. Earlier results do not apply.
	RetryTime time.Time
}

// PodsDue returns the workloads for which pods must be read now, from the unready and the watched ones. It drops the
// results of all other workloads.
func (s *Sidecar) PodsDue(unsettled []*workloadcache.Record, watched WatchedWorkloads) []*workloadcache.Record {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.podLooks)+len(unsettled)+len(watched.Records) == 0 {
		return nil
	}
	previousLooks, now := s.podLooks, s.memory.now()
	s.podLooks = map[types.UID]podLook{}
	var dueRecords []*workloadcache.Record
	for _, record := range unsettled {
		podCheck, ok := previousLooks[record.UID]
		rolloutState := record.State()
		if !ok || podCheck.rollout != rolloutState.Rollout || !podCheck.isForTemplate(record) {
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
		s.podLooks[record.UID] = podCheck
	}
	return append(dueRecords, s.dueWatchedPods(previousLooks, watched)...)
}

// dueWatchedPods returns the watched workloads for which pods must be read now.
func (s *Sidecar) dueWatchedPods(previousLooks map[types.UID]podLook, watched WatchedWorkloads) (dueRecords []*workloadcache.Record) {
	now, count := s.memory.now(), len(watched.Records)
	round := time.Duration(count) * podLookEach
	shortest, longest := max(firstWatchedLook, round), max(lastWatchedLook, round)
	isAnew := !s.watchedAfter.Equal(watched.RetryTime)
	s.watchedAfter = watched.RetryTime
	for n, record := range watched.Records {
		podCheck, ok := previousLooks[record.UID]
		inTurn := now.Add(shortest * time.Duration(n+1) / time.Duration(count))
		switch {
		case !ok || isAnew || podCheck.rollout == workload.RolloutProgressing || !podCheck.isForTemplate(record): // Read them one after another.
			podCheck = podLook{record: record, rollout: record.Rollout(), next: inTurn, wait: shortest}
		case podCheck.rollout != record.Rollout(): // The workload has just become ready.
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
		s.podLooks[record.UID] = podCheck
	}
	return dueRecords
}

// SetFault records the error that keeps the pods of a workload from running. isSeen is false if the pods could not be
// read. SetFault returns true if that failure is new.
func (s *Sidecar) SetFault(target types.UID, fault workload.Fault, isSeen bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	podCheck := s.podLooks[target]
	isNews := !isSeen && !podCheck.isTold
	podCheck.fault, podCheck.isSeen, podCheck.isTold = fault, isSeen, !isSeen
	s.podLooks[target] = podCheck
	return isNews
}

// Faults returns the pod errors of all workloads with pods that could be read. The zero value means that no error was
// found.
func (s *Sidecar) Faults() map[types.UID]workload.Fault {
	s.mu.Lock()
	defer s.mu.Unlock()
	faults := map[types.UID]workload.Fault{}
	for uid, podCheck := range s.podLooks {
		if podCheck.isSeen {
			faults[uid] = podCheck.fault
		}
	}
	return faults
}

// NextPodLook returns the wait before the next read of pods, or 0 if no read is planned.
func (s *Sidecar) NextPodLook() time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	wait, now := time.Duration(0), s.memory.now()
	for _, podCheck := range s.podLooks {
		remaining := max(podCheck.next.Sub(now), time.Millisecond)
		if wait == 0 || remaining < wait {
			wait = remaining
		}
	}
	return wait
}
