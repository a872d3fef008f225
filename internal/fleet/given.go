// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Given is what an installation gives out at one moment.
type Given struct {
	Rules *Rules
	// Revision is the one that all VectorSidecars are to have: that of the present content,
	// or the one that a person has them go back to.
	Revision string
	// IsBack is true in the latter case: nothing waits for waves then.
	IsBack bool
	// Retry is a text whose change has a revision tried again that has failed.
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

// Asked returns what a VectorSidecar's own annotations say: the revision that it is to go back to from
// this one, "" for none, and whether it is to wait for no wave.
func (g *Given) Asked(annotations map[string]string) (backTo string, isPromoted bool) {
	if from, to, isGiven := strings.Cut(annotations[meta.AnnotationUndoRollout], "/"); isGiven && from == g.Revision && to != g.Revision {
		backTo = to
	}
	return backTo, annotations[meta.AnnotationPromoteRollout] == g.Revision
}

// RetriedAt returns when Retry was last changed, zero if it does not say.
func (g *Given) RetriedAt() time.Time {
	at, err := time.Parse(time.RFC3339, g.Retry)
	if err != nil {
		return time.Time{} // Any text has it tried again.
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
