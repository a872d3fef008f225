// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// UndoMember is a VectorSidecar, or a ClusterVectorSidecar with its status of each wave, whose undo is previewed.
type UndoMember struct {
	Name        types.NamespacedName
	Annotations map[string]string
	OnFailure   v1alpha1.OnFailure
	Waves       []v1alpha1.RolloutStatus
}

// UndoMove is a VectorSidecar that an undo moves, or a ClusterVectorSidecar in one wave.
type UndoMove struct {
	Name     types.NamespacedName
	From, To string
}

// UndoEffect is the effect of an undo on VectorSidecars, by their status.
type UndoEffect struct {
	// Moves are those that change.
	Moves []UndoMove
	// Stuck are those that have the undone revision and no earlier one to return to.
	Stuck []types.NamespacedName
	// Returned is the number of those that have returned from the undone revision already.
	Returned int
	// Others is the number of those that stay because they do not have the undone revision, and Failed counts those of
	// them that have another failed revision, by revision.
	Others int
	Failed map[string]int
}

// PreviewUndo returns the effect of the undo in given, or in the annotations of the only member that it is for, by the
// operator's own decision. only is nil if it is for all members.
func PreviewUndo(members []UndoMember, given *Given, only *types.NamespacedName, now time.Time) UndoEffect {
	waves, parts := NewWaves(), make([][]Part, len(members))
	waves.Await(nil)
	for i := range members {
		for n := range members[i].Waves {
			of := Member{Wave: given.Rules.waveNamed(members[i].Waves[n].Wave), OnFailure: members[i].OnFailure}
			given.Ask(&of, members[i].Annotations)
			parts[i] = append(parts[i], Part{Of: of, Is: &members[i].Waves[n]})
		}
		waves.Tell(members[i].Name, given, parts[i]...)
	}
	effect, undone := UndoEffect{Failed: map[string]int{}}, cmp.Or(given.Undone, given.Revision)
	if only != nil {
		undone = given.Revision
	}
	for i := range members {
		if only != nil && *only != members[i].Name {
			continue
		}
		for _, part := range parts[i] {
			stage := Advance(part.Is, part.Of, given, waves.Gate(members[i].Name, part.Of, given, now))
			effect.add(members[i].Name, part, undone, stage.Status.Revision, given)
		}
	}
	slices.SortFunc(effect.Moves, func(a, b UndoMove) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), compare(a.Name, b.Name))
	})
	slices.SortFunc(effect.Stuck, compare)
	return effect
}

// add adds a part that gets the revision next.
func (e *UndoEffect) add(name types.NamespacedName, part Part, undone, next string, given *Given) {
	switch is := part.Is; {
	case is.Revision == "":
		e.Others++
	case next != is.Revision:
		e.Moves = append(e.Moves, UndoMove{Name: name, From: is.Revision, To: next})
	case is.Revision == undone:
		e.Stuck = append(e.Stuck, name)
	case is.RevertedFrom == undone:
		e.Returned++
	default:
		e.Others++
		if given.isFailed(is.Revision) {
			e.Failed[is.Revision]++
		}
	}
}
