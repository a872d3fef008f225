// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Gate says whether a VectorSidecar may go on.
type Gate struct {
	// IsOpen lets it take the given revision.
	IsOpen bool
	// IsHalted stops all that have the given revision, or would get it.
	IsHalted bool
	// Why says what it waits for.
	Why string
	// Wave is the number of the wave that it waits for; 0, too, if it waits for something else.
	Wave int
	// Until is when to look again if nothing happens; zero for never.
	Until time.Time
	// IsHeard is true if all VectorSidecars have reported since the process started.
	IsHeard bool
	// Finished is the newest revision that a VectorSidecar of the wave has finished and that has not failed, for a
	// VectorSidecar that returns from an undone revision; "" if no revision qualifies, or not all have reported.
	Finished string
	// Meanwhile is what others of the wave have as long as it is not open, nil if none is
	// done with anything.
	Meanwhile *Done
}

// Done is a revision that a VectorSidecar is done with, and since when.
type Done struct {
	Revision string
	Finished metav1.Time
}

// Gate returns whether a VectorSidecar of a wave may take the given revision.
func (w *Waves) Gate(name types.NamespacedName, of Member, given *Given, now time.Time) Gate {
	w.mu.Lock()
	defer w.mu.Unlock()
	gate := w.gate(of, given, now)
	gate.IsHeard = w.isHeard()
	if gate.IsHeard && gate.IsHalted {
		gate.Finished = w.newestFinished(of.Wave, given)
	}
	at := place{name, of.Wave}
	if gate.IsOpen {
		delete(w.waiting, at)
	} else {
		w.waiting[at] = true
		gate.Meanwhile = w.meanwhile(of.Wave, given)
	}
	return gate
}

// meanwhile returns another revision than the given one that VectorSidecars of a wave, or else of
// a later one, are done with and that has failed nowhere: of several the one of the first by name.
func (w *Waves) meanwhile(wave int, given *Given) *Done {
	failed := map[string]bool{}
	for _, one := range w.all() {
		failed[one.failed] = true
	}
	for _, one := range given.Stored {
		failed[one.Revision] = failed[one.Revision] || one.Failure != nil
	}
	var first types.NamespacedName
	var at *standing
	for name, one := range w.all() {
		if one.wave < wave || !one.isDone || one.revision == given.Revision || failed[one.revision] {
			continue
		}
		if at == nil || one.wave < at.wave || one.wave == at.wave && compare(name, first) < 0 {
			first, at = name, one
		}
	}
	if at == nil {
		return nil
	}
	return &Done{Revision: at.revision, Finished: at.done}
}

// newestFinished returns the newest stored revision that a VectorSidecar of a wave has finished, except the published
// revision and failed ones, and "" if no revision is left.
func (w *Waves) newestFinished(wave int, given *Given) string {
	finished := map[string]bool{}
	for _, member := range w.all() {
		if member.wave != wave {
			continue
		}
		finished[member.previous] = true
		if member.isDone || member.isReverted {
			finished[member.revision] = true
		}
	}
	for _, stored := range given.Stored {
		if finished[stored.Revision] && given.canReturnTo(stored.Revision) {
			return stored.Revision
		}
	}
	return ""
}

// isHeard reports whether all VectorSidecars have reported since the process started.
func (w *Waves) isHeard() bool { return w.unheard != nil && len(w.unheard) == 0 }

func (w *Waves) gate(of Member, given *Given, now time.Time) Gate {
	switch {
	case of.IsUndone:
		return Gate{IsHalted: true, Why: "its annotation " + meta.AnnotationUndoRollout + " undoes revision " + given.Revision}
	case given.IsUndone(): // Also before all have reported: no VectorSidecar starts it.
		return Gate{IsHalted: true, Why: fmt.Sprintf("a user has undone revision %s; change values, template sets or policy, or run kubectl vectorsidecar rollout retry", given.Revision)}
	case !w.isHeard():
		return Gate{Why: "not all VectorSidecars have been looked at since the operator started"}
	}
	is := w.front(given)
	if halt := given.Rules.Halt; halt != nil && is.failed >= halt.FailedWorkloads {
		return Gate{IsHalted: true, Why: fmt.Sprintf("%d workloads failed with revision %s (rollout.halt): see %s", is.failed, given.Revision, titleOf(is.failing))}
	}
	passed, wave := given.promoted(), of.Wave
	switch {
	case of.BackTo != "":
		return Gate{Why: fmt.Sprintf("its annotation has it go back from revision %s to %s", given.Revision, of.BackTo)}
	case given.IsBack, of.IsPromoted:
		return Gate{IsOpen: true}
	}
	if is.wave < wave {
		return Gate{Wave: is.wave, Why: fmt.Sprintf("%s of wave %s is not done with revision %s", titleOf(is.blocking), given.Rules.NameOf(is.wave), given.Revision)}
	}
	for name, one := range w.all() {
		isBefore := one.wave < wave && one.wave > passed && one.revision == given.Revision
		if isBefore && !one.due.IsZero() && !one.due.After(now) { // It will be looked at in a moment.
			return Gate{Until: now.Add(time.Second), Why: fmt.Sprintf("workloads of %s of wave %s have waited for spec.rollout.maxAge", titleOf(name), given.Rules.NameOf(one.wave))}
		}
	}
	last, until := 0, time.Time{}
	for _, one := range w.all() {
		if one.wave >= wave || one.wave <= passed || one.finished.IsZero() || one.revision != given.Revision {
			continue
		}
		if end := one.finished.Add(given.Rules.soak(one.wave)); end.After(until) {
			last, until = one.wave, end
		}
	}
	if until.After(now) {
		return Gate{Until: until, Why: fmt.Sprintf("wave %s soaks until %s", given.Rules.NameOf(last), until.UTC().Format(time.RFC3339))}
	}
	return Gate{IsOpen: true}
}

// titleOf names a VectorSidecar, or a ClusterVectorSidecar, which is in no namespace.
func titleOf(name types.NamespacedName) string {
	if name.Namespace == "" {
		return meta.Title(name.Name)
	}
	return meta.TitleIn(name.Namespace, name.Name)
}
