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
func (p *Part) After(previous *Part, sidecar *v1alpha1.VectorSidecar, now time.Time) {
	switch {
	case p.Failed > 0:
		p.failed = now
	case previous != nil && previous.Trial == p.Trial:
		p.failed = previous.failed
	case hadFailed(sidecar, sidecar.Namespace):
		p.failed = now
	}
	if !p.IsTroubled {
		return
	}
	if p.troubled = now; previous != nil && previous.IsTroubled {
		p.troubled = previous.troubled
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
func Sum(sidecar *v1alpha1.VectorSidecar, reports map[string]*Part, now time.Time) (observation Seen, deadline time.Time) {
	trial, isRunning := TrialOf(sidecar), false
	observation.IsDone, observation.IsEverywhere = true, true
	for _, namespace := range slices.Sorted(maps.Keys(reports)) {
		report := reports[namespace]
		isBehind := report == nil || report.Trial != trial // It is about to look.
		if isBehind && hadFailed(sidecar, namespace) || !isBehind && report.isFailing(now) {
			observation.Failing = append(observation.Failing, namespace)
		}
		if isBehind {
			observation.IsDone = false
			continue
		}
		isRunning = isRunning || report.IsRunning
		observation.IsEverywhere, observation.IsPaused = observation.IsEverywhere && !report.IsDeferred, observation.IsPaused || report.IsPaused
		end := report.troubled.Add(patience)
		if isPatient := report.IsTroubled && now.Before(end); isPatient && (deadline.IsZero() || end.Before(deadline)) {
			deadline = end
		}
		observation.IsDone = observation.IsDone && (report.IsSettled || report.IsTroubled && !now.Before(end))
	}
	observation.IsEverywhere = observation.IsEverywhere && isRunning
	return observation, deadline
}
