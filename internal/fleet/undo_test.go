// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// walk is an installation with many VectorSidecars in each of three waves, and an operator that stores and marks
// revisions. An image named bad-… fails in every workload.
type walk struct {
	t           *testing.T
	now         time.Time
	rules       *Rules
	waves       *Waves
	members     []*walker
	stored      []StoredRevision
	content     string
	annotations map[string]string
	onFailure   v1alpha1.OnFailure
}

type walker struct {
	name        types.NamespacedName
	wave        int
	is          *v1alpha1.RolloutStatus
	annotations map[string]string
	// had are the revisions that its workloads got, and healthy is true if nothing fails there.
	had     []string
	healthy bool
	// isReported is true if it was reconciled since the start, and isNew if it was created since.
	isReported, isNew bool
}

func newWalk(t *testing.T, perWave ...int) *walk {
	t.Helper()
	rules, err := Parse("rollout", []byte(threeWaves+"\n"))
	require.NoError(t, err)
	w := &walk{t: t, now: time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC), rules: rules, content: "a", annotations: map[string]string{}}
	for wave, count := range perWave {
		for n := range count {
			w.add(fmt.Sprintf("%s-%02d", rules.WaveName(wave), n), wave)
		}
	}
	w.restart()
	return w
}

func (w *walk) add(name string, wave int) *walker {
	member := &walker{name: types.NamespacedName{Namespace: name, Name: "logs"}, wave: wave, isNew: true}
	w.members = append(w.members, member)
	return member
}

// restart is another leader: it knows what is stored, and reads all statuses again.
func (w *walk) restart() {
	for _, member := range w.members {
		member.isReported, member.isNew = false, false
	}
}

// given checks the waves of the target, and returns the target with the stored revisions.
func (w *walk) given() Target {
	given := NewTarget(w.rules, w.content, w.annotations)
	var statuses []MemberStatus
	isKnown := true
	for _, member := range w.members {
		isKnown = isKnown && (member.isReported || member.isNew)
		if member.is != nil {
			statuses = append(statuses, MemberStatus{Name: member.name, Member: w.memberOf(member, &given), Status: member.is})
		}
	}
	w.waves = NewWaves(&given, statuses, isKnown)
	given.Stored = WithFailures(w.stored, w.waves.Failures())
	return given
}

func (w *walk) memberOf(member *walker, given *Target) WaveMember {
	of := WaveMember{Wave: member.wave, Generation: 1, OnFailure: w.onFailure}
	given.ReadAnnotations(&of, member.annotations)
	return of
}

// pass is one reconcile of a member.
func (w *walk) pass(member *walker) {
	given := w.given()
	of := w.memberOf(member, &given)
	stage := Advance(member.is, of, &given, w.waves.Gate(of, &given, w.now))
	progress := Progress{IsDone: true, Generation: 1}
	if stage.IsNew {
		w.stored = given.Stored // Marks are written before a start.
		if stage.Status.Revision == given.Revision {
			w.store(given.Revision)
		}
		stage.MarkStarted(w.now)
		progress = Progress{IsStarted: true, Generation: 1} // What fails does so a moment later.
	}
	if revision := stage.Status.Revision; !stage.IsHeld && revision != "" {
		if n := len(member.had); n == 0 || member.had[n-1] != revision {
			member.had = append(member.had, revision)
		}
		if isBad := len(revision) > 3 && revision[:3] == "bad"; isBad && !member.healthy && !stage.IsNew {
			progress = Progress{IsStarted: true, Failed: 2, Generation: 1}
		}
	}
	stage.Observe(progress, member.wave, &given, w.now)
	member.is, member.isReported = &stage.Status, true
	given = w.given()
	w.stored = given.Stored
	if w.waves.HasRecovered(w.now) {
		for i := range w.stored {
			if w.stored[i].Revision == given.Revision {
				w.stored[i].Failure = nil
			}
		}
	}
}

func (w *walk) store(revision string) {
	at := slices.IndexFunc(w.stored, func(one StoredRevision) bool { return one.Revision == revision })
	one := StoredRevision{Revision: revision}
	if at >= 0 {
		one = w.stored[at]
		w.stored = slices.Delete(slices.Clone(w.stored), at, at+1)
	}
	w.stored = slices.Insert(slices.Clone(w.stored), 0, one)
}

// settle makes reconciles until nothing changes any more, soaks included.
func (w *walk) settle() {
	for range 12 {
		for _, member := range w.members {
			w.pass(member)
		}
		w.now = w.now.Add(10 * time.Minute)
	}
}

func (w *walk) publish(content string) {
	w.content = content
	w.settle()
}

func (w *walk) undo() {
	w.annotations[meta.AnnotationUndoRollout] = UndoRequest(w.content, w.now)
	w.settle()
}

func (w *walk) retry() {
	delete(w.annotations, meta.AnnotationUndoRollout)
	w.annotations[meta.AnnotationRetryRollout] = w.now.Format(time.RFC3339)
	w.settle()
}

// revisions counts the members by the revision that they have.
func (w *walk) revisions() map[string]int {
	counts := map[string]int{}
	for _, member := range w.members {
		counts[member.is.Revision]++
	}
	return counts
}

func (w *walk) failed() (revisions []string) {
	for _, one := range w.stored {
		if one.Failure != nil {
			revisions = append(revisions, one.Revision)
		}
	}
	slices.Sort(revisions)
	return revisions
}

// everHad are the members whose workloads ever got a revision.
func (w *walk) everHad(revision string) (names []string) {
	for _, member := range w.members {
		if slices.Contains(member.had, revision) {
			names = append(names, member.name.Namespace)
		}
	}
	return names
}

// Two revisions fail one after the other in the first wave. An undo returns its members to the revision before both,
// and members of other waves get neither.
func TestUndoRevision_ReturnsMembersToPreviousRevision(t *testing.T) {
	for name, prepare := range map[string]func(*walk){
		"all of the wave fail":                       func(*walk) {},
		"one of the wave is healthy with what fails": func(w *walk) { w.members[1].healthy = true },
		"the leader changes before each step":        func(w *walk) { w.restart() },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWalk(t, 3, 17, 41)
			prepare(w)
			w.settle()
			require.Equal(t, map[string]int{"a": 61}, w.revisions())
			w.publish("bad-b")
			require.Equal(t, map[string]int{"a": 58, "bad-b": 3}, w.revisions())
			require.Equal(t, []string{"bad-b"}, w.failed())
			if name == "the leader changes before each step" {
				w.restart()
			}
			w.publish("bad-c")
			require.Equal(t, map[string]int{"a": 58, "bad-c": 3}, w.revisions())
			require.Equal(t, []string{"bad-b", "bad-c"}, w.failed())

			w.undo()
			require.Equal(t, map[string]int{"a": 61}, w.revisions())
			before := map[types.NamespacedName]v1alpha1.RolloutStatus{}
			for _, member := range w.members {
				before[member.name] = *member.is.DeepCopy()
			}
			w.undo()
			w.restart()
			w.settle()
			for _, member := range w.members {
				require.Equal(t, before[member.name].Revision, member.is.Revision, "a second undo changes nothing")
				require.Equal(t, before[member.name].CompletionTime, member.is.CompletionTime)
			}
			canary := []string{"canary-00", "canary-01", "canary-02"}
			require.Equal(t, canary, w.everHad("bad-b"))
			require.Equal(t, canary, w.everHad("bad-c"))
			require.Equal(t, v1alpha1.RolloutReverted, w.members[0].is.State)
			require.Equal(t, v1alpha1.RolloutHalted, w.members[60].is.State)

			w.publish("d")
			require.Equal(t, map[string]int{"d": 61}, w.revisions())
			require.Equal(t, "a", w.members[0].is.Previous)
			require.Equal(t, []string{"bad-b", "bad-c"}, w.failed())
		})
	}
}

// No VectorSidecar starts an undone revision, not even by a promotion, until a user requests a retry.
func TestUndoRevision_PreventsLaterStarts(t *testing.T) {
	w := newWalk(t, 2, 2, 2)
	w.settle()
	w.content = "b"
	w.pass(w.members[0])
	require.Equal(t, "b", w.members[0].is.Revision)
	w.undo()
	require.Equal(t, map[string]int{"a": 6}, w.revisions())
	require.Equal(t, []string{"b"}, w.failed())
	late := w.add("late", 0)
	w.annotations[meta.AnnotationPromoteRollout] = "b/default"
	w.members[3].annotations = map[string]string{meta.AnnotationPromoteRollout: "b"}
	w.settle()
	w.restart()
	w.settle()
	require.Equal(t, map[string]int{"a": 7}, w.revisions(), "also after a restart")
	require.Equal(t, []string{"a"}, late.had)

	w.members[2].annotations = map[string]string{meta.AnnotationRetryRollout: "again"}
	w.settle()
	require.Equal(t, map[string]int{"a": 7}, w.revisions(), "it has not had the revision, and waits for the waves before its own")
	w.members[0].annotations = map[string]string{meta.AnnotationRetryRollout: "again"}
	w.settle()
	require.Equal(t, map[string]int{"a": 6, "b": 1}, w.revisions(), "a retry is for that one alone")
	require.Equal(t, "a", w.members[0].is.Previous)
	w.undo()
	require.Equal(t, map[string]int{"a": 7}, w.revisions(), "a later undo is for it, too")

	delete(w.annotations, meta.AnnotationPromoteRollout)
	w.retry()
	require.Equal(t, map[string]int{"b": 7}, w.revisions())
	require.Empty(t, w.failed(), "a retry that succeeds removes the mark")
	w.publish("bad-c")
	w.undo()
	require.Equal(t, map[string]int{"b": 7}, w.revisions())
}

// A VectorSidecar without a previous revision gets the newest other revision of its wave. If there is none, it keeps
// its revision.
func TestUndoRevision_ReturnsNewMemberToRevisionOfWave(t *testing.T) {
	w := newWalk(t, 2, 1, 1)
	w.settle()
	w.content = "bad-b"
	added := w.add("added", 0)
	w.settle()
	require.Equal(t, []string{"bad-b"}, added.had, "the first wave is open")
	w.undo()
	require.Equal(t, map[string]int{"a": 5}, w.revisions())

	alone := newWalk(t, 1)
	alone.publish("bad-b")
	alone.content = "bad-b"
	alone.undo()
	require.Equal(t, map[string]int{"bad-b": 1}, alone.revisions())
	require.Contains(t, alone.members[0].is.Message, "the VectorSidecar keeps its revision")
	require.Equal(t, v1alpha1.RolloutHalted, alone.members[0].is.State)
}

// With onFailure Revert, members have already reverted. Neither a revert nor an undo returns to a failed revision.
func TestUndoRevision_SkipsFailedRevisionsAfterRevert(t *testing.T) {
	w := newWalk(t, 3, 3)
	w.onFailure = v1alpha1.OnFailureRevert
	w.members[1].healthy = true
	w.settle()
	w.publish("bad-b")
	require.Equal(t, map[string]int{"a": 6}, w.revisions())
	w.publish("bad-c")
	require.Equal(t, map[string]int{"a": 6}, w.revisions())
	w.undo()
	require.Equal(t, map[string]int{"a": 6}, w.revisions())
	w.restart()
	w.settle()
	require.Equal(t, map[string]int{"a": 6}, w.revisions())
	require.Equal(t, []string{"bad-b", "bad-c"}, w.failed())
}

// Members of the first wave have finished a revision that failed in a later wave. An undo does not return them to that
// revision.
func TestUndoRevision_SkipsRevisionFailedInLaterWave(t *testing.T) {
	w := newWalk(t, 2, 3, 2)
	w.members[0].healthy, w.members[1].healthy, w.members[3].healthy = true, true, true
	w.settle()
	w.publish("bad-b")
	require.Equal(t, map[string]int{"a": 2, "bad-b": 5}, w.revisions(), "the second wave is halted")
	w.content = "c"
	w.pass(w.members[0])
	w.pass(w.members[1])
	require.Equal(t, "a", w.members[0].is.Previous)
	w.undo()
	require.Equal(t, "a", w.members[0].is.Revision)
	require.Equal(t, "a", w.members[1].is.Revision)
	require.Equal(t, map[string]int{"a": 4, "bad-b": 3}, w.revisions(), "an undo changes those that have the current revision")
}

// An undo of one VectorSidecar returns it to its previous revision, and others stay.
func TestUndoRevision_RevertsSingleSidecar(t *testing.T) {
	w := newWalk(t, 2, 2)
	w.settle()
	w.publish("b")
	w.publish("c")
	w.members[0].annotations = map[string]string{meta.AnnotationUndoRollout: "c"}
	w.settle()
	require.Equal(t, map[string]int{"b": 1, "c": 3}, w.revisions())
	require.Equal(t, v1alpha1.RolloutReverted, w.members[0].is.State)
	require.Empty(t, w.failed(), "for the others nothing changes")
	w.members[0].annotations = nil
	w.settle()
	require.Equal(t, map[string]int{"c": 4}, w.revisions())
}
