// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"regexp"
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
}

// NewGiven returns what an installation gives out whose ConfigMap of values has some
// annotations. revision is that of its present content.
func NewGiven(rules *Rules, revision string, annotations map[string]string) Given {
	given := Given{
		Rules: rules, Revision: revision,
		Retry: annotations[meta.AnnotationRetryRollout], Promoted: annotations[meta.AnnotationPromoteRollout],
	}
	if from, to, isGiven := strings.Cut(annotations[meta.AnnotationUndoRollout], "/"); isGiven && from == revision && to != "" {
		given.Revision, given.IsBack = to, to != revision
	}
	return given
}

// revision is what names of revisions look like: another text is quoted nowhere.
var revision = regexp.MustCompile(`^[0-9a-z]{1,63}$`)

// Ask sets what a VectorSidecar's own annotations ask for, for a member of its wave.
func (g *Given) Ask(of *Member, annotations map[string]string) {
	undo, promote := annotations[meta.AnnotationUndoRollout], annotations[meta.AnnotationPromoteRollout]
	from, to, _ := strings.Cut(undo, "/")
	switch {
	case undo != "" && (!revision.MatchString(from) || !revision.MatchString(to)):
		of.Refused = "its annotation " + meta.AnnotationUndoRollout + " is not FROM/TO, two revisions of kubectl vectorsidecar rollout history"
	case promote != "" && !revision.MatchString(promote):
		of.Refused = "its annotation " + meta.AnnotationPromoteRollout + " is not a revision, as kubectl vectorsidecar rollout status names it"
	}
	if of.Refused == "" && from == g.Revision && to != g.Revision {
		of.BackTo = to
	}
	of.IsPromoted, of.Retry = promote == g.Revision, RetryOf(annotations)
}

// retryLength is that of a digest of AnnotationRetryRollout in bytes.
const retryLength = 8

// RetryOf returns a digest of the text by which a person lets a VectorSidecar go on, "" for none.
func RetryOf(annotations map[string]string) string {
	text := annotations[meta.AnnotationRetryRollout]
	if text == "" {
		return ""
	}
	return meta.Digest([]byte(text), retryLength)
}

// RetriedAt returns when Retry was last changed, zero if it does not say.
func (g *Given) RetriedAt() time.Time {
	at, err := time.Parse(time.RFC3339, g.Retry)
	if err != nil {
		return time.Time{} // It need not be a time.
	}
	return at
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
