// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// HasUnfinished reports whether a VectorSidecar has the published revision and has not finished it. Waves.Count counts the
// same VectorSidecars.
func HasUnfinished(status *v1alpha1.RolloutStatus, target *Target) bool {
	return hasUnfinished(status.Revision, status.CompletionTime != nil, target)
}

// hasUnfinished reports whether a VectorSidecar has the target revision and has not finished it.
func hasUnfinished(revision string, isDone bool, target *Target) bool {
	return revision == target.Revision && !isDone
}

// ProgressingSince returns, by the name of the wave, the time since when at least one member has always been in
// progress with the published revision. Single members may have finished in that time. Waves without members in
// progress are missing. published is the time of the publication, or zero if it is unknown.
func ProgressingSince(target *Target, published time.Time, members []*v1alpha1.RolloutStatus) map[string]time.Time {
	startByWave := map[string]time.Time{}
	for _, status := range members {
		if !HasUnfinished(status, target) {
			continue
		}
		start := waveStart(status, target, published, members)
		if earliest, ok := startByWave[status.Wave]; !ok || !start.IsZero() && (earliest.IsZero() || start.Before(earliest)) {
			startByWave[status.Wave] = start
		}
	}
	for wave, earliest := range startByWave {
		startByWave[wave] = extendStart(wave, earliest, target, members)
	}
	return startByWave
}

// waveStart returns the time when a member started the published revision. If none of its workloads has started to roll
// out, it returns the earliest possible start, which is the end of all earlier waves. It returns zero if that time is
// not known.
func waveStart(status *v1alpha1.RolloutStatus, target *Target, published time.Time, members []*v1alpha1.RolloutStatus) time.Time {
	if status.StartTime != nil {
		return status.StartTime.Time
	}
	start := published
	for _, earlier := range members {
		if earlier.Revision != target.Revision || earlier.CompletionTime == nil || target.Rules.waveIndex(earlier.Wave) >= target.Rules.waveIndex(status.Wave) {
			continue
		}
		if end := earlier.CompletionTime.Add(target.Rules.Soak(earlier.Wave)); end.After(start) {
			start = end
		}
	}
	return start
}

// extendStart returns the start of the time without a gap in which at least one member of the wave was in progress, up
// to a start. It goes back over finished members that were in progress at that time, one after another.
func extendStart(wave string, start time.Time, target *Target, members []*v1alpha1.RolloutStatus) time.Time {
	var finished []*v1alpha1.RolloutStatus
	for _, status := range members {
		if status.Wave == wave && status.Revision == target.Revision && status.StartTime != nil && status.CompletionTime != nil {
			finished = append(finished, status)
		}
	}
	slices.SortFunc(finished, func(a, b *v1alpha1.RolloutStatus) int { return b.CompletionTime.Compare(a.CompletionTime.Time) })
	for _, status := range finished {
		if !status.CompletionTime.Time.Before(start) && status.StartTime.Time.Before(start) {
			start = status.StartTime.Time
		}
	}
	return start
}
