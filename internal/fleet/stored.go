// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// StoredRevision is a revision that the operator has stored.
type StoredRevision struct {
	Revision string
	// Failure is the mark of a failed revision, or nil for none.
	Failure *RevisionFailure
}

// RevisionFailure is the mark of a failed revision on its ControllerRevision. VectorSidecars do not return to a marked
// revision without a user's request.
type RevisionFailure struct {
	// Reason is Halted or Undone.
	Reason FailureReason `json:"reason"`
	// Since is the time of the mark, zero if the mark has none.
	Since time.Time `json:"since,omitzero"`
}

// FailureReason is the reason why a revision counts as failed.
type FailureReason string

const (
	// FailureHalted means that too many workloads failed with the revision.
	FailureHalted FailureReason = "Halted"
	// FailureUndone means that a user has undone the revision.
	FailureUndone FailureReason = "Undone"
)

// String returns the mark in the form of the annotation that stores it.
func (f *RevisionFailure) String() string {
	return string(f.Reason) + " " + f.Since.UTC().Format(time.RFC3339)
}

// StoredRevisions returns the revisions of ControllerRevisions, in their order.
func StoredRevisions(records []appsv1.ControllerRevision) []StoredRevision {
	stored := make([]StoredRevision, 0, len(records))
	for i := range records {
		stored = append(stored, StoredRevision{Revision: records[i].Labels[meta.LabelRevision], Failure: failureFor(records[i].Annotations)})
	}
	return stored
}

// failureFor returns the mark in the annotations of a ControllerRevision, or nil for none. A malformed mark also
// marks the revision as failed.
func failureFor(annotations map[string]string) *RevisionFailure {
	text, ok := annotations[meta.AnnotationFailed]
	if !ok {
		return nil
	}
	reason, timeText, _ := strings.Cut(text, " ")
	timestamp, _ := time.Parse(time.RFC3339, timeText) // Without a valid time, Since is zero.
	return &RevisionFailure{Reason: FailureReason(reason), Since: timestamp}
}

// WithFailures returns a copy of the stored revisions. Revisions in the map are marked as failed.
func WithFailures(stored []StoredRevision, failures map[string]FailureReason) []StoredRevision {
	if len(failures) == 0 {
		return stored
	}
	marked := slices.Clone(stored)
	for i := range marked {
		if reason, ok := failures[marked[i].Revision]; ok && marked[i].Failure == nil {
			marked[i].Failure = &RevisionFailure{Reason: reason}
		}
	}
	return marked
}

// isFailed reports whether a revision is marked as failed.
func (g *Target) isFailed(revision string) bool {
	return slices.ContainsFunc(g.Stored, func(stored StoredRevision) bool { return stored.Revision == revision && stored.Failure != nil })
}

// canReturnTo reports whether a VectorSidecar can return from the published revision to another one without a user's
// request. The other revision must be stored and must not have failed.
func (g *Target) canReturnTo(revision string) bool {
	isGood := func(stored StoredRevision) bool { return stored.Revision == revision && stored.Failure == nil }
	return revision != g.Revision && slices.ContainsFunc(g.Stored, isGood)
}
