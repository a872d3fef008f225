// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import "time"

// Failures returns the revisions that count as failed according to the reports of VectorSidecars, and the revision that
// a user has undone. Without halt, a revision counts as failed as long as its failures prevent a VectorSidecar from
// finishing.
func (w *Waves) Failures(target *Target) map[string]FailureReason {
	w.mu.Lock()
	defer w.mu.Unlock()
	failures := map[string]FailureReason{}
	if w.failing > 0 {
		for revision, workloads := range w.failedWorkloads(target.Rules.Halt != nil) {
			if halt := target.Rules.Halt; halt == nil || workloads >= halt.FailedWorkloads {
				failures[revision] = FailureHalted
			}
		}
	}
	if target.Undone != "" && failures[target.Undone] == "" {
		failures[target.Undone] = FailureUndone
	}
	return failures
}

// failedWorkloads returns the number of failed workloads by revision. Finished VectorSidecars are included on request.
// The caller holds the mutex.
func (w *Waves) failedWorkloads(withFinished bool) map[string]int {
	workloads := map[string]int{}
	for _, member := range w.allProgress() {
		if member.failed != "" && (withFinished || !member.isDone) {
			workloads[member.failed] += member.workloads
		}
	}
	return workloads
}

// HasRecovered reports whether the published revision has succeeded after a retry: all VectorSidecars that have it have
// finished it without failures, and the soaks of their waves are over.
func (w *Waves) HasRecovered(target *Target, now time.Time) bool {
	failures := w.Failures(target)
	w.mu.Lock()
	defer w.mu.Unlock()
	if failures[target.Revision] != "" || !w.hasAllReports() {
		return false
	}
	isUsed := false
	for _, member := range w.allProgress() {
		if member.revision != target.Revision || member.skippedRevision == target.Revision {
			continue
		}
		if isUsed = true; !member.isDone || member.finished.Add(target.Rules.soak(member.wave)).After(now) {
			return false
		}
	}
	return isUsed
}
