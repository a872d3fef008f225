// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Target is the target revision of an installation at one moment, with the requests of users that concern it.
type Target struct {
	Rules *Rules
	// Revision is the revision that all VectorSidecars should have: the revision of the current content, or an
	// earlier one that a user reverts all VectorSidecars to.
	Revision string
	// IsRevert is true if a user reverts all VectorSidecars to Revision. The revert does not wait for waves.
	IsRevert bool
	// Retry is the value of the annotation retry-rollout. When it changes, a failed revision is tried again.
	Retry string
	// Promoted is REVISION/WAVE. VectorSidecars do not wait for that wave and earlier waves to finish that revision.
	Promoted string
	// Undone is the revision that a user has undone, or "" for none. If it is Revision, each VectorSidecar that has it
	// returns to an earlier revision that it had, and the others do not start it. Otherwise all VectorSidecars start
	// Revision.
	Undone string
	// UndoRequest is a digest of the annotation that undoes the revision. A new digest is a new request.
	UndoRequest string
	// Stored are the stored revisions, newest first.
	Stored []StoredRevision
}

// NewTarget returns the target revision of an installation. revision is the revision of the current content.
// rules is nil if the installation has none. annotations are from the ConfigMap of the installation's values.
func NewTarget(rules *Rules, revision string, annotations map[string]string) Target {
	target := Target{
		Rules: cmp.Or(rules, &Rules{}), Revision: revision,
		Retry: annotations[meta.AnnotationRetryRollout], Promoted: annotations[meta.AnnotationPromoteRollout],
	}
	from, to := parseUndo(annotations[meta.AnnotationUndoRollout])
	switch {
	case from != revision || to == revision:
	case to == "":
		target.Undone, target.UndoRequest = revision, meta.Digest([]byte(annotations[meta.AnnotationUndoRollout]), requestLength)
	default:
		target.Undone, target.Revision, target.IsRevert = revision, to, true
	}
	return target
}

// UndoRequest returns the text of the annotation for an undo of a revision at a time.
func UndoRequest(revision string, now time.Time) string {
	return revision + "@" + now.UTC().Format(time.RFC3339)
}

// parseUndo parses the annotation AnnotationUndoRollout. It returns the undone revision, and the revision to return
// to, or "" if each VectorSidecar returns to an earlier revision that it had.
func parseUndo(text string) (from, to string) {
	from, to, _ = strings.Cut(text, "/")
	from, _, _ = strings.Cut(from, "@")
	return from, to
}

// IsUndone reports whether a user has undone the published revision, so that each VectorSidecar returns to an earlier
// revision that it had.
func (t *Target) IsUndone() bool { return t.Undone != "" && t.Undone == t.Revision }

// revision matches names of revisions. Other texts are never quoted in messages.
var revision = regexp.MustCompile(`^[0-9a-z]{1,63}$`)

// ReadAnnotations reads a user's requests from the annotations of a VectorSidecar, and sets them in its WaveMember.
func (t *Target) ReadAnnotations(member *WaveMember, annotations map[string]string) {
	undo, promote := annotations[meta.AnnotationUndoRollout], annotations[meta.AnnotationPromoteRollout]
	from, to := parseUndo(undo)
	switch {
	case undo != "" && (!revision.MatchString(from) || to == "" && strings.Contains(undo, "/") || to != "" && !revision.MatchString(to)):
		member.Rejection = "annotation " + meta.AnnotationUndoRollout + " is not FROM or FROM/TO, with two revisions from kubectl vectorsidecar rollout history"
	case promote != "" && slices.ContainsFunc(strings.Split(promote, ","), func(entry string) bool { return !revision.MatchString(entry) }):
		member.Rejection = "annotation " + meta.AnnotationPromoteRollout + " is not a revision from kubectl vectorsidecar rollout status"
	}
	if member.Rejection == "" && from == t.Revision && to != t.Revision {
		member.RevertTo, member.IsUndone = to, to == ""
	}
	member.IsPromoted, member.Retry = promote == t.Revision, RetryDigest(annotations)
}

// requestLength is the number of bytes of a digest of AnnotationRetryRollout or AnnotationUndoRollout.
const requestLength = 8

// RetryDigest returns a digest of a user's request to retry the rollout of a VectorSidecar, or "" for none.
func RetryDigest(annotations map[string]string) string {
	text := annotations[meta.AnnotationRetryRollout]
	if text == "" {
		return ""
	}
	return meta.Digest([]byte(text), requestLength)
}

// RetriedAt returns the time of the last change of Retry. It returns zero if Retry is not a time.
func (t *Target) RetriedAt() time.Time {
	timestamp, err := time.Parse(time.RFC3339, t.Retry)
	if err != nil {
		return time.Time{} // Retry does not have to be a time.
	}
	return timestamp
}

// promotedWave returns the number of the wave that a user has promoted, or -1 for none. Later waves do not wait for it.
func (t *Target) promotedWave() int {
	for wave := range len(t.Rules.Waves) + 1 {
		if t.Promoted == t.Revision+"/"+t.Rules.WaveName(wave) {
			return wave
		}
	}
	return -1
}
