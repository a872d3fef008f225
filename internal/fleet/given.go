// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"regexp"
	"slices"
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Given is what an installation gives out at one moment.
type Given struct {
	Rules *Rules
	// Revision is the one that all VectorSidecars are to have: that of the present content,
	// or the one that a person sends them back to.
	Revision string
	// IsBack is true in the latter case: nothing waits for waves then.
	IsBack bool
	// Retry is a text: when it changes, a revision that has failed is tried again.
	Retry string
	// Promoted is REVISION/WAVE: with that revision nothing waits for the waves up to
	// that one any more.
	Promoted string
	// Undone is the revision that a user has undone, "" for none. If it is Revision, each VectorSidecar that has it
	// returns to an earlier one of its own, and no other one starts it; else all go to Revision.
	Undone string
	// UndoRequest is a digest of the annotation by which a user has undone it: another one is another request.
	UndoRequest string
	// Stored are the revisions that the operator has stored, the last one first.
	Stored []StoredRevision
}

// NewGiven returns what an installation gives out whose ConfigMap of values has some
// annotations. revision is that of its present content.
func NewGiven(rules *Rules, revision string, annotations map[string]string) Given {
	target := Given{
		Rules: rules, Revision: revision,
		Retry: annotations[meta.AnnotationRetryRollout], Promoted: annotations[meta.AnnotationPromoteRollout],
	}
	from, to := parseUndo(annotations[meta.AnnotationUndoRollout])
	switch {
	case from != revision || to == revision:
	case to == "":
		target.Undone, target.UndoRequest = revision, meta.Digest([]byte(annotations[meta.AnnotationUndoRollout]), requestLength)
	default:
		target.Undone, target.Revision, target.IsBack = revision, to, true
	}
	return target
}

// UndoRequest returns the text of the annotation by which a user undoes a revision at a time.
func UndoRequest(revision string, now time.Time) string {
	return revision + "@" + now.UTC().Format(time.RFC3339)
}

// parseUndo returns the revision that an annotation AnnotationUndoRollout undoes, and the one that it goes to, "" for
// an earlier one of each VectorSidecar.
func parseUndo(text string) (from, to string) {
	from, to, _ = strings.Cut(text, "/")
	from, _, _ = strings.Cut(from, "@")
	return from, to
}

// IsUndone reports whether a user has undone the published revision, and each VectorSidecar returns to one of its own.
func (g *Given) IsUndone() bool { return g.Undone != "" && g.Undone == g.Revision }

// revision is what names of revisions look like: another text is quoted nowhere.
var revision = regexp.MustCompile(`^[0-9a-z]{1,63}$`)

// Ask sets what a VectorSidecar's own annotations ask for, for a member of its wave.
func (g *Given) Ask(member *Member, annotations map[string]string) {
	undo, promote := annotations[meta.AnnotationUndoRollout], annotations[meta.AnnotationPromoteRollout]
	from, to := parseUndo(undo)
	switch {
	case undo != "" && (!revision.MatchString(from) || to == "" && strings.Contains(undo, "/") || to != "" && !revision.MatchString(to)):
		member.Refused = "annotation " + meta.AnnotationUndoRollout + " is not FROM or FROM/TO, revisions of kubectl vectorsidecar rollout history"
	case promote != "" && slices.ContainsFunc(strings.Split(promote, ","), func(entry string) bool { return !revision.MatchString(entry) }):
		member.Refused = "annotation " + meta.AnnotationPromoteRollout + " is not a revision, as kubectl vectorsidecar rollout status names it"
	}
	if member.Refused == "" && from == g.Revision && to != g.Revision {
		member.BackTo, member.IsUndone = to, to == ""
	}
	member.IsPromoted, member.Retry = promote == g.Revision, RetryOf(annotations)
}

// requestLength is the number of bytes of a digest of AnnotationRetryRollout or AnnotationUndoRollout.
const requestLength = 8

// RetryOf returns a digest of the text by which a person lets a VectorSidecar go on, "" for none.
func RetryOf(annotations map[string]string) string {
	text := annotations[meta.AnnotationRetryRollout]
	if text == "" {
		return ""
	}
	return meta.Digest([]byte(text), requestLength)
}

// RetriedAt returns when Retry was last changed, zero if it does not say.
func (g *Given) RetriedAt() time.Time {
	timestamp, err := time.Parse(time.RFC3339, g.Retry)
	if err != nil {
		return time.Time{} // It need not be a time.
	}
	return timestamp
}

// promoted returns the number of the last wave that is not waited for, -1 for none.
func (g *Given) promoted() int {
	for wave := range len(g.Rules.Waves) + 1 {
		if g.Promoted == g.Revision+"/"+g.Rules.NameOf(wave) {
			return wave
		}
	}
	return -1
}
