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
	// mostFailing is the maximum number of namespaces that may fail with a good spec. The status names them.
	mostFailing = 100
	// patience is the maximum time for which a ClusterVectorSidecar waits for a namespace in which writes fail and
	// are retried.
	patience = 10 * time.Minute
	// CrashLoop is the time for which workloads count as failing after they were last seen to fail. A sidecar in a
	// crash loop runs for a moment each time, and then waits for up to five minutes.
	CrashLoop = 10 * time.Minute
)

// Attempt identifies the spec that a ClusterVectorSidecar tries in its namespaces.
type Attempt struct {
	UID types.UID
	// Generation is the result of the function Generation. Retry is a digest of a user's request to retry the spec.
	Generation int64
	Retry      string
}

// NewAttempt returns the Attempt for the current spec of a ClusterVectorSidecar.
func NewAttempt(sidecar *v1alpha1.VectorSidecar) Attempt {
	return Attempt{UID: sidecar.UID, Generation: Generation(sidecar), Retry: fleet.RetryDigest(sidecar.Annotations)}
}

// NamespaceStatus is the status of a ClusterVectorSidecar in one namespace.
type NamespaceStatus struct {
	v1alpha1.VectorSidecarStatus

	// Trial is the spec that the status describes.
	Trial Attempt
	// IsLeaving is true if the namespace is not selected, or if the ClusterVectorSidecar is being deleted.
	IsLeaving bool
}

// NamespaceReport is the state of one namespace of a ClusterVectorSidecar, as observed in its last reconcile.
type NamespaceReport struct {
	Attempt

	// IsSettled is true if the namespace changes only with an event: all workloads have finished, or the others wait
	// for a failed one.
	IsSettled bool
	// IsRetrying is true if writes or the reconcile have failed and are retried.
	IsRetrying bool
	// IsRunning is true if a workload runs the sidecar. IsDeferred is true if a workload gets it later. IsPaused is
	// true if a workload would get it if the ClusterVectorSidecar was not paused.
	IsRunning, IsDeferred, IsPaused bool
	// Failed is the number of workloads that failed because of the sidecar.
	Failed int

	// retryingSince is the time since when IsRetrying is true. failed is the time when a failed workload was last
	// observed.
	retryingSince, failed time.Time
}

// CopyTimes copies the times of the previous report, which may be nil. A namespace that had failed with the last known good
// spec counts as failing until no failure has been observed for long enough.
func (p *NamespaceReport) CopyTimes(previous *NamespaceReport, sidecar *v1alpha1.VectorSidecar, now time.Time) {
	switch {
	case p.Failed > 0:
		p.failed = now
	case previous != nil && previous.Attempt == p.Attempt:
		p.failed = previous.failed
	case hadFailedBefore(sidecar, sidecar.Namespace):
		p.failed = now
	}
	if !p.IsRetrying {
		return
	}
	if p.retryingSince = now; previous != nil && previous.IsRetrying {
		p.retryingSince = previous.retryingSince
	}
}

// hadFailedBefore reports whether workloads of a namespace had also failed with the last known good spec.
func hadFailedBefore(sidecar *v1alpha1.VectorSidecar, namespace string) bool {
	good := sidecar.Status.LastKnownGood
	return good != nil && slices.Contains(good.Failing, namespace)
}

// isFailing reports whether a failed workload has been observed within the time CrashLoop.
func (p *NamespaceReport) isFailing(now time.Time) bool {
	return !p.failed.IsZero() && now.Sub(p.failed) <= CrashLoop
}

// SumReports adds up the reports of the namespaces of a ClusterVectorSidecar. The report of an unknown namespace is nil. The
// result is finished if every namespace is settled, or its writes have failed for longer than patience.
// IsFullyRolledOut is true if some workload runs the sidecar and no workload gets it later. SumReports also returns when the
// result may change without an event, or zero for never.
func SumReports(sidecar *v1alpha1.VectorSidecar, reports map[string]*NamespaceReport, now time.Time) (observation Observation, deadline time.Time) {
	trial, isRunning := NewAttempt(sidecar), false
	observation.IsDone, observation.IsFullyRolledOut = true, true
	for _, namespace := range slices.Sorted(maps.Keys(reports)) {
		report := reports[namespace]
		isBehind := report == nil || report.Attempt != trial // The namespace is about to be reconciled.
		if isBehind && hadFailedBefore(sidecar, namespace) || !isBehind && report.isFailing(now) {
			observation.Failing = append(observation.Failing, namespace)
		}
		if isBehind {
			observation.IsDone = false
			continue
		}
		isRunning = isRunning || report.IsRunning
		observation.IsFullyRolledOut, observation.IsPaused = observation.IsFullyRolledOut && !report.IsDeferred, observation.IsPaused || report.IsPaused
		end := report.retryingSince.Add(patience)
		if isLongWait := report.IsRetrying && now.Before(end); isLongWait && (deadline.IsZero() || end.Before(deadline)) {
			deadline = end
		}
		observation.IsDone = observation.IsDone && (report.IsSettled || report.IsRetrying && !now.Before(end))
	}
	observation.IsFullyRolledOut = observation.IsFullyRolledOut && isRunning
	return observation, deadline
}
