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

// UndoMember is a VectorSidecar in the preview of an undo, or a ClusterVectorSidecar with its status in each wave.
type UndoMember struct {
	Name        types.NamespacedName
	Annotations map[string]string
	OnFailure   v1alpha1.OnFailure
	Waves       []v1alpha1.RolloutStatus
}

// UndoMove is a VectorSidecar that an undo reverts, or a ClusterVectorSidecar in one wave.
type UndoMove struct {
	Name     types.NamespacedName
	From, To string
}

// UndoEffect is the effect of an undo on VectorSidecars, predicted from their status.
type UndoEffect struct {
	// Moves are the VectorSidecars that change their revision.
	Moves []UndoMove
	// Stuck are the VectorSidecars that have the undone revision and do not have an earlier revision to return to.
	Stuck []types.NamespacedName
	// Returned is the number of VectorSidecars that have already returned from the undone revision.
	Returned int
	// Others is the number of VectorSidecars that stay because they do not have the undone revision. Failed is the
	// number of them with another failed revision, by revision.
	Others int
	Failed map[string]int
}

// PreviewUndo returns the effect of an undo according to the operator's own decision. The undo is requested in the
// target, or in the annotations of one member. The filter is that member, or nil for all members.
func PreviewUndo(members []UndoMember, target *Target, filter *types.NamespacedName, now time.Time) UndoEffect {
	var statuses []MemberStatus
	for i := range members {
		for n := range members[i].Waves {
			member := WaveMember{Wave: target.Rules.waveIndex(members[i].Waves[n].Wave), OnFailure: members[i].OnFailure}
			target.ReadAnnotations(&member, members[i].Annotations)
			statuses = append(statuses, MemberStatus{Name: members[i].Name, Member: member, Status: &members[i].Waves[n]})
		}
	}
	waves := NewWaves(target, statuses, true)
	effect, undone := UndoEffect{Failed: map[string]int{}}, cmp.Or(target.Undone, target.Revision)
	if filter != nil {
		undone = target.Revision
	}
	for i := range statuses {
		member := &statuses[i]
		if filter != nil && *filter != member.Name {
			continue
		}
		state := Advance(member.Status, member.Member, target, waves.Gate(member.Member, target, now))
		effect.addMember(member, undone, state.Status.Revision, target)
	}
	slices.SortFunc(effect.Moves, func(a, b UndoMove) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To), compareKeys(a.Name, b.Name))
	})
	slices.SortFunc(effect.Stuck, compareKeys)
	return effect
}

// addMember adds the effect on a VectorSidecar, or on a ClusterVectorSidecar in one wave, which would have newRevision.
func (e *UndoEffect) addMember(member *MemberStatus, undone, newRevision string, target *Target) {
	switch status := member.Status; {
	case status.Revision == "":
		e.Others++
	case newRevision != status.Revision:
		e.Moves = append(e.Moves, UndoMove{Name: member.Name, From: status.Revision, To: newRevision})
	case status.Revision == undone:
		e.Stuck = append(e.Stuck, member.Name)
	case status.RevertedFrom == undone:
		e.Returned++
	default:
		e.Others++
		if target.isFailed(status.Revision) {
			e.Failed[status.Revision]++
		}
	}
}
