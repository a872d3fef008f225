// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import "time"

// Failures returns the revisions that count as failed according to the statuses of VectorSidecars, and the revision that
// a user has undone. Without halt, a revision counts as failed as long as its failures prevent a VectorSidecar from
// finishing.
func (w *Waves) Failures() map[string]FailureReason {
	halt, workloads := w.target.Rules.Halt, map[string]int{}
	for i := range w.members {
		if member := &w.members[i]; member.failed != "" && (halt != nil || !member.isDone) {
			workloads[member.failed] += member.workloads
		}
	}
	failures := map[string]FailureReason{}
	for revision, count := range workloads {
		if halt == nil || count >= halt.FailedWorkloads {
			failures[revision] = FailureHalted
		}
	}
	if undone := w.target.Undone; undone != "" && failures[undone] == "" {
		failures[undone] = FailureUndone
	}
	return failures
}

// HasRecovered reports whether the target revision has succeeded after a retry: all VectorSidecars that have it have
// finished it without failures, and the soaks of their waves are over.
func (w *Waves) HasRecovered(now time.Time) bool {
	revision := w.target.Revision
	if w.Failures()[revision] != "" || !w.frontier.isKnown {
		return false
	}
	isUsed := false
	for i := range w.members {
		member := &w.members[i]
		if member.revision != revision || member.isSkipped {
			continue
		}
		if isUsed = true; !member.isDone || member.finished.Add(w.target.Rules.soak(member.wave)).After(now) {
			return false
		}
	}
	return isUsed
}
