// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package lastgood

import (
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
)

const (
	// mostFailing is how many namespaces may fail with a good spec, at most: their names are in the status.
	mostFailing = 100
	// patience is how long a namespace is waited for in which writes fail and are retried.
	patience = 10 * time.Minute
	// CrashLoop is how long workloads count as failing after they were seen so: a sidecar that is restarted
	// again and again runs for a moment each time, and then waits for up to five minutes.
	CrashLoop = 10 * time.Minute
)

// Trial is what a ClusterVectorSidecar tries in its namespaces.
type Trial struct {
	UID types.UID
	// Generation is the result of Generation, Retry a digest of a person's request to try it again.
	Generation int64
	Retry      string
}

// TrialOf returns the present one.
func TrialOf(sidecar *v1alpha1.VectorSidecar) Trial {
	return Trial{UID: sidecar.UID, Generation: Generation(sidecar), Retry: fleet.RetryOf(sidecar.Annotations)}
}

// Part is what the last pass over one of the namespaces of a ClusterVectorSidecar has seen.
type Part struct {
	Trial

	// IsSettled is true if nothing more happens there by itself: all workloads are done, or the rest waits
	// for one with which something has gone wrong.
	IsSettled bool
	// IsTroubled is true if writes, or the pass itself, have failed and are tried again.
	IsTroubled bool
	// IsRunning is true if a workload runs the sidecar, IsDeferred if one gets it later, and IsPaused if one
	// would if the ClusterVectorSidecar was not paused.
	IsRunning, IsDeferred, IsPaused bool
	// Failed is how many workloads have failed because of the sidecar.
	Failed int

	// troubled is since when it is troubled, and failed when a workload was last seen to have failed.
	troubled, failed time.Time
}

// After takes over from the Part before, nil for none, since when it is in trouble. A namespace that had
// failed with the last good spec counts as failing until it has been seen for long enough that it does not.
func (p *Part) After(before *Part, sidecar *v1alpha1.VectorSidecar, now time.Time) {
	switch {
	case p.Failed > 0:
		p.failed = now
	case before != nil && before.Trial == p.Trial:
		p.failed = before.failed
	case hadFailed(sidecar, sidecar.Namespace):
		p.failed = now
	}
	if !p.IsTroubled {
		return
	}
	if p.troubled = now; before != nil && before.IsTroubled {
		p.troubled = before.troubled
	}
}

// hadFailed reports whether workloads of a namespace had failed with the last good spec, too.
func hadFailed(sidecar *v1alpha1.VectorSidecar, namespace string) bool {
	good := sidecar.Status.LastKnownGood
	return good != nil && slices.Contains(good.Failing, namespace)
}

// isFailing reports whether workloads have failed, a moment ago or longer.
func (p *Part) isFailing(now time.Time) bool {
	return !p.failed.IsZero() && now.Sub(p.failed) <= CrashLoop
}

// Sum adds up the namespaces of a ClusterVectorSidecar, nil for those that nothing is known of: it is done when
// all have settled, in whatever trouble some are, and one runs the sidecar. until is when something changes
// although nothing happens, zero for never.
func Sum(sidecar *v1alpha1.VectorSidecar, parts map[string]*Part, now time.Time) (seen Seen, until time.Time) {
	trial, isRunning := TrialOf(sidecar), false
	seen.IsDone, seen.IsEverywhere = true, true
	for _, namespace := range slices.Sorted(maps.Keys(parts)) {
		part := parts[namespace]
		isBehind := part == nil || part.Trial != trial // It is about to look.
		if isBehind && hadFailed(sidecar, namespace) || !isBehind && part.isFailing(now) {
			seen.Failing = append(seen.Failing, namespace)
		}
		if isBehind {
			seen.IsDone = false
			continue
		}
		isRunning = isRunning || part.IsRunning
		seen.IsEverywhere, seen.IsPaused = seen.IsEverywhere && !part.IsDeferred, seen.IsPaused || part.IsPaused
		end := part.troubled.Add(patience)
		if isPatient := part.IsTroubled && now.Before(end); isPatient && (until.IsZero() || end.Before(until)) {
			until = end
		}
		seen.IsDone = seen.IsDone && (part.IsSettled || part.IsTroubled && !now.Before(end))
	}
	seen.IsEverywhere = seen.IsEverywhere && isRunning
	return seen, until
}
