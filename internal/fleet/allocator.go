// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"cmp"
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"
)

// Demand is what the rollouts of one VectorSidecar are and ask for, in workloads.
type Demand struct {
	// Matched is how many it matches.
	Matched int
	// UnderWay is how many are rolling out or soaking, Wanted how many more may begin as
	// far as the VectorSidecar itself is concerned.
	UnderWay, Wanted int
	// FailedUnderWay and FailedWanted are the same for workloads that failed before: they get
	// slots that no other workload wants, and hold none against others.
	FailedUnderWay, FailedWanted int
}

func (d *Demand) underWay() int { return d.UnderWay + d.FailedUnderWay }

func (d *Demand) wanted() int { return d.Wanted + d.FailedWanted }

// Allocator gives places to the VectorSidecars of an installation: as many workloads as
// Rules.Limit says are under way at once. A free place goes to the namespace that has the
// fewest, however many VectorSidecars are in it, there to who has the fewest, and among those
// to who has waited longest. It is safe for concurrent use.
//
// A place that has not been given back for Patience holds up nobody else: soaks, and pods that
// never start, are for their owners to end, and one owner could hold all places.
//
// It keeps nothing that outlives the process: each VectorSidecar says again what is under
// way, and nobody gets a place before all have.
type Allocator struct {
	now func() time.Time

	mu   sync.Mutex
	asks map[types.NamespacedName]*ask
	// sum is that of all of them.
	sum  Demand
	turn int
	// unheard are the VectorSidecars that have to be heard first; nil before it is known
	// which there are.
	unheard map[types.NamespacedName]bool
}

// ask is what is known of one VectorSidecar.
type ask struct {
	Demand
	// since are the times from which the places under way are held, oldest first. The oldest
	// is the first to be given back.
	since []time.Time
	// turn grows with each grant: the lowest has waited longest.
	turn int
	// later is what it wanted when it failed, and asks for by itself: it is offered that where a rollout has ended.
	later int
	// woken is set once its turn was announced, until it asks again.
	woken bool
}

// Patience is how long a place that is held keeps all others from beginning.
const Patience = time.Hour

// NewAllocator returns an Allocator that has heard nobody, with a clock.
func NewAllocator(now func() time.Time) *Allocator {
	return &Allocator{now: now, asks: map[types.NamespacedName]*ask{}}
}

// Known reports whether the Allocator knows whom it has to hear first.
func (a *Allocator) Known() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unheard != nil
}

// Await names all VectorSidecars that there are. Only the first call counts.
func (a *Allocator) Await(names []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unheard != nil {
		return
	}
	a.unheard = map[types.NamespacedName]bool{}
	a.await(names)
}

// AwaitInstead has those heard that one of the named turns out to be, in its place. It returns who should ask again.
func (a *Allocator) AwaitInstead(name types.NamespacedName, members []types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.unheard[name] {
		return nil
	}
	delete(a.unheard, name)
	a.await(members)
	return a.wake(a.share(rules))
}

func (a *Allocator) await(names []types.NamespacedName) {
	for _, name := range names {
		if a.asks[name] == nil {
			a.unheard[name] = true
		}
	}
}

// Tell replaces what is known of a VectorSidecar.
func (a *Allocator) Tell(name types.NamespacedName, demand Demand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(name, demand)
}

func (a *Allocator) tell(name types.NamespacedName, demand Demand) *ask {
	state := a.asks[name]
	if state == nil {
		a.turn++
		state = &ask{turn: a.turn}
		a.asks[name] = state
	}
	a.set(state, demand)
	state.hold(demand.UnderWay, a.now())
	state.woken, state.later = false, 0
	delete(a.unheard, name)
	return state
}

func (a *Allocator) set(state *ask, demand Demand) {
	a.sum.Matched += demand.Matched - state.Matched
	a.sum.UnderWay += demand.UnderWay - state.UnderWay
	a.sum.Wanted += demand.Wanted - state.Wanted
	a.sum.FailedUnderWay += demand.FailedUnderWay - state.FailedUnderWay
	a.sum.FailedWanted += demand.FailedWanted - state.FailedWanted
	state.Demand = demand
}

// hold records how many places are held: of those before, the oldest are given back first.
func (o *ask) hold(underWay int, now time.Time) {
	o.since = o.since[max(0, len(o.since)-underWay):]
	for len(o.since) < underWay {
		o.since = append(o.since, now)
	}
}

// late returns how many places have been held for longer than Patience.
func (o *ask) late(now time.Time) int {
	count, _ := slices.BinarySearchFunc(o.since, now.Add(-Patience), time.Time.Compare)
	return min(count, o.UnderWay)
}

// Ask tells what is known of a VectorSidecar now. It returns how many of the wanted
// workloads may begin, which count as under way from then on, and which other
// VectorSidecars should ask again because there are places for them.
func (a *Allocator) Ask(name types.NamespacedName, demand Demand, rules *Rules) (granted int, wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if current := a.asks[name]; current != nil && demand.underWay() < current.underWay() {
		a.recall()
	}
	state := a.tell(name, demand)
	shares := map[types.NamespacedName]int{name: demand.wanted()}
	if rules.isLimited() {
		shares = a.share(rules)
	}
	if granted = shares[name]; granted > 0 {
		healthy := min(granted, demand.Wanted)
		failed := granted - healthy
		a.set(state, Demand{
			Matched: demand.Matched, UnderWay: demand.UnderWay + healthy, Wanted: demand.Wanted - healthy,
			FailedUnderWay: demand.FailedUnderWay + failed, FailedWanted: demand.FailedWanted - failed,
		})
		a.turn++
		state.turn = a.turn
	}
	delete(shares, name)
	return granted, a.wake(shares)
}

// LateIn returns when the next place will have been held for longer than Patience, so that others
// may begin; 0 for none.
func (a *Allocator) LateIn() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var shortest time.Duration
	now := a.now()
	for _, state := range a.asks {
		if overdue := state.late(now); overdue < len(state.since) {
			if wait := state.since[overdue].Add(Patience).Sub(now) + time.Millisecond; shortest == 0 || wait < shortest {
				shortest = wait
			}
		}
	}
	return shortest
}

// Begun corrects how many workloads of a VectorSidecar are under way after it has used
// its places: fewer if writes have failed. failed counts those that failed before. It returns which
// others should ask again.
func (a *Allocator) Begun(name types.NamespacedName, underWay, failed int, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	state := a.asks[name]
	if state == nil || state.UnderWay <= underWay && state.FailedUnderWay <= failed {
		return nil
	}
	demand := state.Demand
	demand.UnderWay, demand.FailedUnderWay = min(underWay, state.UnderWay), min(failed, state.FailedUnderWay)
	a.set(state, demand)
	shares := a.share(rules)
	delete(shares, name) // When it tries again is up to itself.
	return a.wake(shares)
}

// Pass records that a VectorSidecar cannot say now what it wants, or has failed to get it: nobody waits for it, and what
// others give back because they have failed, too, is no reason for it to try again.
func (a *Allocator) Pass(name types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.unheard, name)
	if state := a.asks[name]; state != nil {
		state.later += state.Wanted
		a.set(state, Demand{Matched: state.Matched, UnderWay: state.UnderWay, FailedUnderWay: state.FailedUnderWay})
	}
	return a.wake(a.share(rules))
}

// recall has those wait again that have failed, because a place is free for another reason.
func (a *Allocator) recall() {
	for _, state := range a.asks {
		if state.later > 0 {
			demand := state.Demand
			demand.Wanted = state.later
			a.set(state, demand)
			state.later = 0
		}
	}
}

// Forget drops a VectorSidecar that is gone.
func (a *Allocator) Forget(name types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.unheard, name)
	if state := a.asks[name]; state != nil {
		if state.underWay() > 0 {
			a.recall()
		}
		a.set(state, Demand{})
		delete(a.asks, name)
	}
	return a.wake(a.share(rules))
}

// Places are the sums over all VectorSidecars.
type Places struct {
	// Limit is how many workloads may be under way, 0 for any number.
	Limit int
	// Taken is how many are, Waiting how many more would begin.
	Taken, Waiting int
}

// Places counts the places.
func (a *Allocator) Places(rules *Rules) Places {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.places(rules)
}

func (a *Allocator) places(rules *Rules) Places {
	return Places{Limit: rules.Limit(a.sum.Matched), Taken: a.sum.underWay(), Waiting: a.sum.wanted()}
}

// share divides the free places: how many each gets that wants some. Nobody gets any
// before all have been heard.
func (a *Allocator) share(rules *Rules) map[types.NamespacedName]int {
	if !rules.isLimited() || len(a.unheard) > 0 || a.unheard == nil {
		return nil
	}
	limit, now := rules.Limit(a.sum.Matched), a.now()
	overdue := map[types.NamespacedName]int{}
	free := limit - a.sum.UnderWay
	extra := min(free, 0)
	for name, state := range a.asks {
		if count := state.late(now); count > 0 {
			overdue[name] = count
			extra += count
		}
	}
	shares := map[types.NamespacedName]int{}
	isAny, wantedHealthy := func(types.NamespacedName) bool { return true }, func(state *ask) int { return state.Wanted }
	a.divide(free, shares, wantedHealthy, isAny)
	a.divide(extra, shares, wantedHealthy, func(name types.NamespacedName) bool { return overdue[name] == 0 })
	granted := 0
	for _, count := range shares {
		granted += count
	}
	if granted == a.sum.Wanted { // No healthy workload waits.
		a.divide(limit-a.sum.underWay()-granted, shares, func(state *ask) int { return state.wanted() }, isAny)
	}
	return shares
}

// line is who waits in one namespace, in the order in which they get places.
type line struct {
	// underWay counts the places of the whole namespace.
	underWay int
	waiting  []types.NamespacedName
}

// divide adds to the shares of some one free place after another, to who has the fewest in the
// namespace that has the fewest. wanted is how many one of them wants at most.
func (a *Allocator) divide(free int, shares map[types.NamespacedName]int, demandFor func(*ask) int, isEligible func(types.NamespacedName) bool) {
	if free <= 0 {
		return
	}
	byNamespace := map[string]*line{}
	for name, state := range a.asks {
		if byNamespace[name.Namespace] == nil {
			byNamespace[name.Namespace] = &line{}
		}
		queue := byNamespace[name.Namespace]
		queue.underWay += state.UnderWay + shares[name]
		if demandFor(state) > shares[name] && isEligible(name) {
			queue.waiting = append(queue.waiting, name)
		}
	}
	compareMembers := func(x, y types.NamespacedName) int {
		return cmp.Or(a.asks[x].UnderWay+shares[x]-a.asks[y].UnderWay-shares[y], a.asks[x].turn-a.asks[y].turn)
	}
	compareQueues := func(x, y *line) int { return cmp.Or(x.underWay-y.underWay, compareMembers(x.waiting[0], y.waiting[0])) }
	var queues []*line
	for _, queue := range byNamespace {
		if len(queue.waiting) > 0 {
			slices.SortFunc(queue.waiting, compareMembers)
			queues = append(queues, queue)
		}
	}
	slices.SortFunc(queues, compareQueues)
	for ; free > 0 && len(queues) > 0; free-- {
		queue := queues[0]
		name := queue.waiting[0]
		queues, queue.waiting = queues[1:], queue.waiting[1:]
		shares[name]++
		queue.underWay++
		if shares[name] < demandFor(a.asks[name]) {
			queue.waiting = insert(queue.waiting, name, compareMembers)
		}
		if len(queue.waiting) > 0 {
			queues = insert(queues, queue, compareQueues)
		}
	}
}

// insert adds one to a list that is in order.
func insert[T any](sorted []T, item T, compareItems func(x, y T) int) []T {
	i, _ := slices.BinarySearchFunc(sorted, item, compareItems)
	return slices.Insert(sorted, i, item)
}

// wake returns the names of those who have a share, and have not been told yet.
func (a *Allocator) wake(shares map[types.NamespacedName]int) []types.NamespacedName {
	var names []types.NamespacedName
	for name := range maps.Keys(shares) {
		if state := a.asks[name]; !state.woken {
			state.woken = true
			names = append(names, name)
		}
	}
	return names
}
