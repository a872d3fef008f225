// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"time"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// LastStatus returns a copy of the status of a ClusterVectorSidecar in a wave. If the ClusterVectorSidecar did not have
// namespaces in the wave, the copy is from the nearest later wave with a status, or else from the nearest earlier one: the
// namespaces come from that wave, and keep their revision. LastStatus returns nil if no wave has a status.
func (r *Rules) LastStatus(waves []v1alpha1.RolloutStatus, wave int) *v1alpha1.RolloutStatus {
	find := func(wave int) *v1alpha1.RolloutStatus {
		i := slices.IndexFunc(waves, func(status v1alpha1.RolloutStatus) bool { return status.Wave == r.WaveName(wave) })
		if i < 0 {
			return nil
		}
		return waves[i].DeepCopy()
	}
	if status := find(wave); status != nil {
		return status
	}
	var near *v1alpha1.RolloutStatus
	for laterWave := wave + 1; laterWave <= len(r.Waves) && near == nil; laterWave++ {
		near = find(laterWave)
	}
	for earlierWave := wave - 1; earlierWave >= 0 && near == nil; earlierWave-- {
		near = find(earlierWave)
	}
	if near == nil {
		return nil
	}
	// Starts and failures stay with the other wave.
	return &v1alpha1.RolloutStatus{
		Revision: near.Revision, Previous: near.Previous, RevertedFrom: near.RevertedFrom, Generation: near.Generation, CompletionTime: near.CompletionTime,
		LastHandledRetry: near.LastHandledRetry, LastHandledUndo: near.LastHandledUndo,
	}
}

// SumProgress adds up the progress of several namespaces. The result is done only if all namespaces are done.
func SumProgress(reports []Progress, generation int64) Progress {
	sum := Progress{IsDone: len(reports) > 0, Generation: generation}
	for _, report := range reports {
		sum.IsStarted, sum.IsPaused, sum.IsLate = sum.IsStarted || report.IsStarted, sum.IsPaused || report.IsPaused, sum.IsLate || report.IsLate
		sum.IsDone = sum.IsDone && report.IsDone
		sum.Workloads, sum.Evidence = sum.Workloads+report.Workloads, sum.Evidence+report.Evidence
		sum.Failed, sum.Unexplained = sum.Failed+report.Failed, sum.Unexplained+report.Unexplained
		sum.Failures = append(sum.Failures, report.Failures...)
	}
	return sum
}

// IsEquivalentTo reports whether two states allow the same writes and wait for the same events. Messages may differ.
func (s *RevisionState) IsEquivalentTo(other *RevisionState) bool {
	current, previous := &s.Status, &other.Status
	return current.Revision == previous.Revision && current.RevertedFrom == previous.RevertedFrom && current.FailedRevision == previous.FailedRevision &&
		current.StartTime.Equal(previous.StartTime) && current.CompletionTime.Equal(previous.CompletionTime) &&
		s.IsHeld == other.IsHeld && s.Gate.IsOpen == other.Gate.IsOpen && s.Gate.IsHalted == other.Gate.IsHalted &&
		s.Gate.Wave == other.Gate.Wave && isSameTime(s.Gate.Until, other.Gate.Until)
}

// isSameTime compares two times without fractions of a second, because gates may set a time one second from now.
func isSameTime(a, b time.Time) bool { return a.Truncate(time.Second).Equal(b.Truncate(time.Second)) }
