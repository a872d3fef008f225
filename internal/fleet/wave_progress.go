// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// InProgress reports whether a VectorSidecar has the published revision and has not finished it. Waves.Count counts the same.
func InProgress(is *v1alpha1.RolloutStatus, given *Given) bool {
	return isInProgress(is.Revision, is.CompletionTime != nil, given)
}

func isInProgress(revision string, isDone bool, given *Given) bool {
	return revision == given.Revision && !isDone
}

// ProgressingSince returns, by the name of the wave, since when it has had members in progress with the published revision
// without a gap, although single members may have finished. A wave without members in progress is left out. published is
// the time at which the revision was published, zero if it is not known.
func ProgressingSince(given *Given, published time.Time, members []*v1alpha1.RolloutStatus) map[string]time.Time {
	since := map[string]time.Time{}
	for _, is := range members {
		if !InProgress(is, given) {
			continue
		}
		start := startOf(is, given, published, members)
		if first, ok := since[is.Wave]; !ok || !start.IsZero() && (first.IsZero() || start.Before(first)) {
			since[is.Wave] = start
		}
	}
	for wave, first := range since {
		since[wave] = extendBack(wave, first, given, members)
	}
	return since
}

// startOf returns when a member started the published revision. If none of its workloads has started to roll out, it is
// the earliest time at which the revision may have reached the member: the end of all earlier waves. It is zero if that
// is not known.
func startOf(is *v1alpha1.RolloutStatus, given *Given, published time.Time, members []*v1alpha1.RolloutStatus) time.Time {
	if is.StartTime != nil {
		return is.StartTime.Time
	}
	start := published
	for _, earlier := range members {
		if earlier.Revision != given.Revision || earlier.CompletionTime == nil || given.Rules.waveNamed(earlier.Wave) >= given.Rules.waveNamed(is.Wave) {
			continue
		}
		if end := earlier.CompletionTime.Add(given.Rules.Soak(earlier.Wave)); end.After(start) {
			start = end
		}
	}
	return start
}

// extendBack returns the start of the earliest of the finished members of a wave that, one after another, reach to a time.
func extendBack(wave string, since time.Time, given *Given, members []*v1alpha1.RolloutStatus) time.Time {
	var finished []*v1alpha1.RolloutStatus
	for _, is := range members {
		if is.Wave == wave && is.Revision == given.Revision && is.StartTime != nil && is.CompletionTime != nil {
			finished = append(finished, is)
		}
	}
	slices.SortFunc(finished, func(a, b *v1alpha1.RolloutStatus) int { return b.CompletionTime.Compare(a.CompletionTime.Time) })
	for _, is := range finished {
		if !is.CompletionTime.Time.Before(since) && is.StartTime.Time.Before(since) {
			since = is.StartTime.Time
		}
	}
	return since
}
