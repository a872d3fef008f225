// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Last returns a copy of what the status of a ClusterVectorSidecar says of a wave, nil if it
// says nothing of any. Of a wave in which it had no namespaces yet it says what it does of the
// next one, or else of the one before: that is where these namespaces were until now, and they
// keep the revision that they have.
func (r *Rules) Last(waves []v1alpha1.RolloutStatus, wave int) *v1alpha1.RolloutStatus {
	find := func(wave int) *v1alpha1.RolloutStatus {
		at := slices.IndexFunc(waves, func(one v1alpha1.RolloutStatus) bool { return one.Wave == r.NameOf(wave) })
		if at < 0 {
			return nil
		}
		return waves[at].DeepCopy()
	}
	if found := find(wave); found != nil {
		return found
	}
	var near *v1alpha1.RolloutStatus
	for next := wave + 1; next <= len(r.Waves) && near == nil; next++ {
		near = find(next)
	}
	for before := wave - 1; before >= 0 && near == nil; before-- {
		near = find(before)
	}
	if near == nil {
		return nil
	}
	// What began or failed there is counted there.
	return &v1alpha1.RolloutStatus{
		Revision: near.Revision, Previous: near.Previous, RevertedFrom: near.RevertedFrom, Generation: near.Generation, CompletionTime: near.CompletionTime,
		LastHandledRetry: near.LastHandledRetry, LastHandledUndo: near.LastHandledUndo,
	}
}

// Sum adds up the progress of several namespaces. None is done while one is not.
func Sum(all []Progress, generation int64) Progress {
	sum := Progress{IsDone: len(all) > 0, Generation: generation}
	for _, one := range all {
		sum.IsBegun, sum.IsPaused, sum.IsLate = sum.IsBegun || one.IsBegun, sum.IsPaused || one.IsPaused, sum.IsLate || one.IsLate
		sum.IsDone = sum.IsDone && one.IsDone
		sum.Workloads, sum.Evidence = sum.Workloads+one.Workloads, sum.Evidence+one.Evidence
		sum.Failed, sum.Unexplained = sum.Failed+one.Failed, sum.Unexplained+one.Unexplained
		sum.Failures = append(sum.Failures, one.Failures...)
	}
	return sum
}

// IsLike reports whether two stages mean the same to whoever goes by them: what may be written,
// and what that waits for. Texts may differ.
func (s *Stage) IsLike(other *Stage) bool {
	is, was := &s.Status, &other.Status
	return is.Revision == was.Revision && is.RevertedFrom == was.RevertedFrom && is.FailedRevision == was.FailedRevision &&
		is.StartTime.Equal(was.StartTime) && is.CompletionTime.Equal(was.CompletionTime) &&
		s.IsHeld == other.IsHeld && s.Gate.IsOpen == other.Gate.IsOpen && s.Gate.IsHalted == other.Gate.IsHalted &&
		s.Gate.Wave == other.Gate.Wave && sameMoment(s.Gate.Until, other.Gate.Until)
}

// sameMoment leaves out the fractions of a second by which a gate says "in a moment".
func sameMoment(a, b time.Time) bool { return a.Truncate(time.Second).Equal(b.Truncate(time.Second)) }
