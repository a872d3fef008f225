// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package companionuse

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
)

const (
	// calm is the time without changes in a namespace before a list starts, because controllers then create or delete
	// revisions, and one list serves all requests. If changes continue, the list starts longestWait after the first
	// request.
	calm, longestWait = 2 * time.Second, 10 * time.Second
	// pause is the minimum wait after a list. pauseEach is added for each listed object, so that a namespace with many
	// revisions does not cost more than a namespace with few revisions.
	pause, pauseEach = 5 * time.Second, 2 * time.Millisecond
	// firstRetry and lastRetry bound the wait after a failed list.
	firstRetry, lastRetry = 10 * time.Second, 5 * time.Minute
	// lastInterval is the longest wait between two lists without a change. Lists are repeated because users delete
	// ReplicaSets, which are not watched. A random share, up to intervalJitter, is subtracted, so that not all
	// namespaces are listed at the same time.
	lastInterval, intervalJitter = time.Hour, 0.2
)

// intervals are the waits between the first lists of revisions after a change. The revisions are listed again, because
// the controller of a workload may delete old ones late. Later waits are lastInterval.
var intervals = []time.Duration{time.Minute, 5 * time.Minute, 25 * time.Minute}

// cause is the reason why the revisions of a namespace are listed, for the log.
type cause string

const (
	causeRequested    cause = "a VectorSidecar has an old generated ConfigMap"
	causeRolledOut    cause = "a rollout has finished"
	causeDeleted      cause = "a workload was deleted"
	causeHistoryLimit cause = "revisionHistoryLimit has changed"
	causeRepeated     cause = "controllers and users may have deleted revisions since"
)

// namespaceUse is the state of the old companions of one namespace.
type namespaceUse struct {
	// companions are the old companions of each VectorSidecar.
	companions map[types.NamespacedName][]string
	// isUsed is the result of the last successful list, by companion. listed is the start time of that list. changed
	// are the workloads that changed after that time, and changing the ones that changed during the list in progress.
	isUsed            map[string]bool
	listed            time.Time
	changed, changing map[types.UID]bool

	// firstRequest and lastRequest are the times of the first and the last request after the start of the last list.
	// They are zero without a request.
	firstRequest, lastRequest time.Time
	cause                     cause
	// started and endTime are the times of the last list. isListing reports whether it is in progress.
	started, endTime time.Time
	isListing        bool
	// minPause is the minimum wait after the last list. interval is the wait without a request. repeats is the number
	// of lists that started without a request after the last request.
	minPause, interval time.Duration
	repeats            int
	// err is the error of the last list. retry is the wait after that error.
	err   error
	retry time.Duration

	timer *time.Timer
}

// recordChange records that a workload has changed since the last list.
func (u *namespaceUse) recordChange(target types.UID) {
	u.changed[target] = true
	if u.isListing {
		u.changing[target] = true
	}
}

// isCurrent reports whether the last list started less than maxAge ago, and after the last change of each of the
// workloads.
func (u *namespaceUse) isCurrent(now time.Time, workloads func(func(types.UID) bool)) bool {
	if now.Sub(u.listed) > maxAge {
		return false
	}
	for target := range workloads {
		if u.changed[target] {
			return false
		}
	}
	return true
}

// requestList requests a list with a cause. The first cause since the last list counts.
func (u *namespaceUse) requestList(now time.Time, cause cause) {
	if u.firstRequest.IsZero() {
		u.firstRequest, u.cause = now, cause
	}
	u.lastRequest, u.repeats = now, 0
}

// nextStart returns the time when the next list starts.
func (u *namespaceUse) nextStart() time.Time {
	switch {
	case u.err != nil:
		return u.endTime.Add(u.retry)
	case u.firstRequest.IsZero():
		return u.endTime.Add(u.interval)
	}
	start := u.lastRequest.Add(calm)
	if latest := u.firstRequest.Add(longestWait); latest.Before(start) {
		start = latest
	}
	if rested := u.endTime.Add(u.minPause); rested.After(start) {
		start = rested
	}
	return start
}

// startList starts a list. It returns the companions to search for and the cause of the list.
func (u *namespaceUse) startList(now time.Time) ([]string, cause) {
	cause := u.cause
	if u.firstRequest.IsZero() {
		cause = causeRepeated
		u.repeats++
	}
	u.firstRequest, u.cause = time.Time{}, ""
	if now.Sub(u.lastRequest) < calm { // The cache may not show the effects of the last change yet.
		u.firstRequest, u.cause = u.lastRequest, cause
	}
	u.started, u.isListing, u.changing = now, true, map[types.UID]bool{}
	names := slices.Concat(slices.Collect(maps.Values(u.companions))...)
	return names, cause
}

// finishList records the result of a list. It returns the VectorSidecars to reconcile: those with an unused companion.
// If the list is the first that failed or the first that succeeded, it returns all VectorSidecars.
func (u *namespaceUse) finishList(now time.Time, names []string, result Use, err error) []types.NamespacedName {
	isNews := (err == nil) != (u.err == nil)
	u.isListing, u.endTime, u.err = false, now, err
	u.interval = wait.Jitter(time.Duration(float64(lastInterval)/(1+intervalJitter)), intervalJitter)
	if u.repeats < len(intervals) {
		u.interval = intervals[u.repeats]
	}
	if err != nil {
		u.retry = min(max(firstRetry, 2*u.retry), lastRetry)
	} else {
		u.retry, u.minPause = 0, pause+time.Duration(result.Listed)*pauseEach
		u.listed, u.changed, u.isUsed = u.started, u.changing, make(map[string]bool, len(names))
		for _, name := range names {
			u.isUsed[name] = result.Names[name]
		}
	}
	var wake []types.NamespacedName
	for sidecar, companions := range u.companions {
		isUnused := func(name string) bool {
			isUsed, isListed := u.isUsed[name]
			return isListed && !isUsed
		}
		if isNews || err == nil && slices.ContainsFunc(companions, isUnused) {
			wake = append(wake, sidecar)
		}
	}
	return wake
}
