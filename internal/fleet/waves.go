// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// Waves know how far every VectorSidecar is, and so which may go on. It is safe for
// concurrent use.
//
// It keeps nothing that outlives the process: each VectorSidecar says again how far it is,
// as its status has it, and nobody goes on before all have.
type Waves struct {
	mu sync.Mutex
	// seen has one standing for a VectorSidecar, and for a ClusterVectorSidecar one for each
	// wave in which it has namespaces.
	seen map[types.NamespacedName][]standing
	// failing is the number of standings with failed workloads.
	failing int
	// unheard are the VectorSidecars that have to be heard first; nil before it is known
	// which there are.
	unheard map[types.NamespacedName]bool
	// waiting are those that were told to wait.
	waiting map[place]bool
	// last is what those who wait were told by.
	last front
}

// place is that of a VectorSidecar in a wave, or one of those of a ClusterVectorSidecar.
type place struct {
	types.NamespacedName

	wave int
}

// Part is how far a VectorSidecar is as a member of its wave, or a ClusterVectorSidecar with
// the namespaces of one wave.
type Part struct {
	Of Member
	Is *v1alpha1.RolloutStatus
}

// standing is how far one VectorSidecar is.
type standing struct {
	wave     int
	revision string
	// isDone is true when nothing of the revision is left to do, since done.
	isDone bool
	done   metav1.Time
	// left is the given revision if nobody waits for this one with it, because it is paused or a
	// person sent it back from there; else "".
	left string
	// previous is the last good revision before it, and isReverted true if revision is the one that it went back to.
	previous   string
	isReverted bool
	// finished is when its last workload was done; zero if it had nothing to do and pods have run the sidecar.
	finished time.Time
	// due is when some of its workloads will have waited too long; zero for never.
	due time.Time
	// failed is the revision of which some workloads have failed.
	failed    string
	workloads int
}

// front is how far a revision is.
type front struct {
	revision string
	// wave is the first that is not done and not passed over, and blocking one of its VectorSidecars that
	// are not.
	wave     int
	blocking types.NamespacedName
	// failed is how many workloads have failed with it, and failing the first VectorSidecar that has some of them.
	failed  int
	failing types.NamespacedName
	// isHeard is true when all VectorSidecars have been heard.
	isHeard bool
}

// NewWaves returns Waves that no VectorSidecar has reported to yet.
func NewWaves() *Waves {
	return &Waves{seen: map[types.NamespacedName][]standing{}, waiting: map[place]bool{}}
}

// Known reports whether it is known whom to hear first.
func (w *Waves) Known() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.unheard != nil
}

// Await names all VectorSidecars that there are. Only the first call counts.
func (w *Waves) Await(names []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.unheard != nil {
		return
	}
	w.unheard = map[types.NamespacedName]bool{}
	for _, name := range names {
		if _, isSeen := w.seen[name]; !isSeen {
			w.unheard[name] = true
		}
	}
}

// Tell replaces what is known of a VectorSidecar by its status: of one part, or as many as a
// ClusterVectorSidecar has. It returns who should look again.
func (w *Waves) Tell(name types.NamespacedName, target *Given, reports ...Part) (wake []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.unheard, name)
	w.set(name, standings(target, reports))
	return w.wake(target)
}

// set replaces the standings of a VectorSidecar. The caller holds the mutex.
func (w *Waves) set(name types.NamespacedName, standings []standing) {
	w.failing += countFailing(standings) - countFailing(w.seen[name])
	w.seen[name] = standings
}

func countFailing(standings []standing) (failing int) {
	for i := range standings {
		if standings[i].failed != "" {
			failing++
		}
	}
	return failing
}

func standings(target *Given, reports []Part) []standing {
	members := make([]standing, 0, len(reports))
	for i := range reports {
		members = append(members, reports[i].standing(target))
	}
	return members
}

func (p *Part) standing(target *Given) standing {
	member, status := &p.Of, p.Is
	progress := standing{
		wave: member.Wave, revision: status.Revision, isDone: status.CompletionTime != nil, due: member.Due, previous: status.Previous, isReverted: status.RevertedFrom != "",
	}
	if status.State == v1alpha1.RolloutPaused || member.BackTo != "" || member.IsUndone {
		progress.left = target.Revision
	}
	if progress.isDone {
		progress.done = *status.CompletionTime
	}
	if progress.isDone && (status.StartTime != nil || status.LacksEvidence()) {
		progress.finished = status.CompletionTime.Time
	}
	if status.LastHandledInstallationRetry == target.Retry {
		progress.failed, progress.workloads = status.FailedRevision, int(status.FailedWorkloads)
	}
	return progress
}

// Pass records that a VectorSidecar cannot say now how far it is. If it never has since the start, what
// its status says counts: a halt, and that its wave is not done. Without that nobody waits for it.
func (w *Waves) Pass(name types.NamespacedName, target *Given, lastReports ...Part) (wake []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.unheard, name)
	if _, isSeen := w.seen[name]; !isSeen && len(lastReports) > 0 {
		w.set(name, standings(target, lastReports))
	}
	return w.wake(target)
}

// Forget drops a VectorSidecar that is gone. given is nil as long as nothing goes by waves.
func (w *Waves) Forget(name types.NamespacedName, target *Given) (wake []types.NamespacedName) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.unheard, name)
	w.set(name, nil)
	delete(w.seen, name)
	maps.DeleteFunc(w.waiting, func(waits place, _ bool) bool { return waits.NamespacedName == name })
	if target == nil {
		return nil
	}
	return w.wake(target)
}

// wake returns those who were told to wait, and when a revision is halted all, if what
// they were told by has changed.
func (w *Waves) wake(target *Given) []types.NamespacedName {
	current := w.front(target)
	previous := w.last
	if w.last = current; previous.revision == current.revision && previous.wave == current.wave && previous.failed == current.failed && previous.isHeard == current.isHeard {
		return nil
	}
	names := map[types.NamespacedName]bool{}
	for waits := range w.waiting {
		names[waits.NamespacedName] = true
	}
	if previous.failed != current.failed {
		for name := range w.seen {
			names[name] = true
		}
	}
	return slices.Collect(maps.Keys(names))
}

// front looks how far the given revision is.
func (w *Waves) front(target *Given) front {
	frontier := front{revision: target.Revision, wave: len(target.Rules.Waves) + 1, isHeard: w.isHeard()}
	passed := target.promoted()
	for name, progress := range w.all() {
		if progress.failed == target.Revision {
			frontier.failed += progress.workloads
			if progress.workloads > 0 && (frontier.failing.Name == "" || compare(name, frontier.failing) < 0) {
				frontier.failing = name
			}
		}
		isBehind := progress.wave > passed && progress.left != target.Revision && (progress.revision != target.Revision || !progress.isDone)
		if isBehind && (progress.wave < frontier.wave || progress.wave == frontier.wave && compare(name, frontier.blocking) < 0) {
			frontier.wave, frontier.blocking = progress.wave, name
		}
	}
	return frontier
}

// all returns the standings of all, each with its name.
func (w *Waves) all() iter.Seq2[types.NamespacedName, *standing] {
	return func(yield func(types.NamespacedName, *standing) bool) {
		for name, members := range w.seen {
			for i := range members {
				if !yield(name, &members[i]) {
					return
				}
			}
		}
	}
}

func compare(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// Count returns how many VectorSidecars of each wave have the given revision and are done
// with it, how many have it, and how many there are; and whether it is halted.
func (w *Waves) Count(target *Given) (waves []WaveCount, isHalted bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for wave := range len(target.Rules.Waves) + 1 {
		waves = append(waves, WaveCount{Wave: target.Rules.NameOf(wave)})
	}
	for _, progress := range w.all() {
		count := &waves[min(progress.wave, len(waves)-1)]
		switch {
		case isInProgress(progress.revision, progress.isDone, target):
			count.Progressing++
		case progress.revision != target.Revision:
			count.Waiting++
		default:
			count.Done++
		}
	}
	halt := target.Rules.Halt
	return waves, halt != nil && w.front(target).failed >= halt.FailedWorkloads
}

// WaveCount counts the VectorSidecars of a wave.
type WaveCount struct {
	Wave                       string
	Waiting, Progressing, Done int
}
