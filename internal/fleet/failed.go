// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import "time"

// Failures returns the revisions that count as failed by what VectorSidecars report, and the one that a user has undone.
// Without halt, a revision has failed as long as a VectorSidecar does not finish because of its failures.
func (w *Waves) Failures(given *Given) map[string]FailureReason {
	w.mu.Lock()
	defer w.mu.Unlock()
	failures := map[string]FailureReason{}
	if w.failing > 0 {
		for revision, workloads := range w.failedWorkloads(given.Rules.Halt != nil) {
			if halt := given.Rules.Halt; halt == nil || workloads >= halt.FailedWorkloads {
				failures[revision] = FailureHalted
			}
		}
	}
	if given.Undone != "" && failures[given.Undone] == "" {
		failures[given.Undone] = FailureUndone
	}
	return failures
}

// failedWorkloads returns the number of failed workloads by revision, with those of finished VectorSidecars or without them.
// The caller holds the mutex.
func (w *Waves) failedWorkloads(withFinished bool) map[string]int {
	workloads := map[string]int{}
	for _, member := range w.all() {
		if member.failed != "" && (withFinished || !member.isDone) {
			workloads[member.failed] += member.workloads
		}
	}
	return workloads
}

// HasRecovered reports whether the published revision has succeeded after a retry: all VectorSidecars that have it have
// finished it without failures, and the soaks of their waves are over.
func (w *Waves) HasRecovered(given *Given, now time.Time) bool {
	failures := w.Failures(given)
	w.mu.Lock()
	defer w.mu.Unlock()
	if failures[given.Revision] != "" || !w.isHeard() {
		return false
	}
	isUsed := false
	for _, member := range w.all() {
		if member.revision != given.Revision || member.left == given.Revision {
			continue
		}
		if isUsed = true; !member.isDone || member.finished.Add(given.Rules.soak(member.wave)).After(now) {
			return false
		}
	}
	return isUsed
}
