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
func (a *Allocator) Await(all []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unheard != nil {
		return
	}
	a.unheard = map[types.NamespacedName]bool{}
	a.await(all)
}

// AwaitInstead has those heard that one of the named turns out to be, in its place. It returns who should ask again.
func (a *Allocator) AwaitInstead(name types.NamespacedName, those []types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.unheard[name] {
		return nil
	}
	delete(a.unheard, name)
	a.await(those)
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
	one := a.asks[name]
	if one == nil {
		a.turn++
		one = &ask{turn: a.turn}
		a.asks[name] = one
	}
	a.set(one, demand)
	one.hold(demand.UnderWay, a.now())
	one.woken, one.later = false, 0
	delete(a.unheard, name)
	return one
}

func (a *Allocator) set(one *ask, demand Demand) {
	a.sum.Matched += demand.Matched - one.Matched
	a.sum.UnderWay += demand.UnderWay - one.UnderWay
	a.sum.Wanted += demand.Wanted - one.Wanted
	a.sum.FailedUnderWay += demand.FailedUnderWay - one.FailedUnderWay
	a.sum.FailedWanted += demand.FailedWanted - one.FailedWanted
	one.Demand = demand
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
	late, _ := slices.BinarySearchFunc(o.since, now.Add(-Patience), time.Time.Compare)
	return min(late, o.UnderWay)
}

// Ask tells what is known of a VectorSidecar now. It returns how many of the wanted
// workloads may begin, which count as under way from then on, and which other
// VectorSidecars should ask again because there are places for them.
func (a *Allocator) Ask(name types.NamespacedName, demand Demand, rules *Rules) (granted int, wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if one := a.asks[name]; one != nil && demand.underWay() < one.underWay() {
		a.recall()
	}
	asking := a.tell(name, demand)
	shares := map[types.NamespacedName]int{name: demand.wanted()}
	if rules.isLimited() {
		shares = a.share(rules)
	}
	if granted = shares[name]; granted > 0 {
		healthy := min(granted, demand.Wanted)
		failed := granted - healthy
		a.set(asking, Demand{
			Matched: demand.Matched, UnderWay: demand.UnderWay + healthy, Wanted: demand.Wanted - healthy,
			FailedUnderWay: demand.FailedUnderWay + failed, FailedWanted: demand.FailedWanted - failed,
		})
		a.turn++
		asking.turn = a.turn
	}
	delete(shares, name)
	return granted, a.wake(shares)
}

// LateIn returns when the next place will have been held for longer than Patience, so that others
// may begin; 0 for none.
func (a *Allocator) LateIn() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var next time.Duration
	now := a.now()
	for _, one := range a.asks {
		if late := one.late(now); late < len(one.since) {
			if wait := one.since[late].Add(Patience).Sub(now) + time.Millisecond; next == 0 || wait < next {
				next = wait
			}
		}
	}
	return next
}

// Begun corrects how many workloads of a VectorSidecar are under way after it has used
// its places: fewer if writes have failed. failed counts those that failed before. It returns which
// others should ask again.
func (a *Allocator) Begun(name types.NamespacedName, underWay, failed int, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	asking := a.asks[name]
	if asking == nil || asking.UnderWay <= underWay && asking.FailedUnderWay <= failed {
		return nil
	}
	demand := asking.Demand
	demand.UnderWay, demand.FailedUnderWay = min(underWay, asking.UnderWay), min(failed, asking.FailedUnderWay)
	a.set(asking, demand)
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
	if asking := a.asks[name]; asking != nil {
		asking.later += asking.Wanted
		a.set(asking, Demand{Matched: asking.Matched, UnderWay: asking.UnderWay, FailedUnderWay: asking.FailedUnderWay})
	}
	return a.wake(a.share(rules))
}

// recall has those wait again that have failed, because a place is free for another reason.
func (a *Allocator) recall() {
	for _, one := range a.asks {
		if one.later > 0 {
			demand := one.Demand
			demand.Wanted = one.later
			a.set(one, demand)
			one.later = 0
		}
	}
}

// Forget drops a VectorSidecar that is gone.
func (a *Allocator) Forget(name types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.unheard, name)
	if asking := a.asks[name]; asking != nil {
		if asking.underWay() > 0 {
			a.recall()
		}
		a.set(asking, Demand{})
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
	late := map[types.NamespacedName]int{}
	free := limit - a.sum.UnderWay
	beyond := min(free, 0)
	for name, one := range a.asks {
		if count := one.late(now); count > 0 {
			late[name] = count
			beyond += count
		}
	}
	shares := map[types.NamespacedName]int{}
	isAny, wanted := func(types.NamespacedName) bool { return true }, func(one *ask) int { return one.Wanted }
	a.divide(free, shares, wanted, isAny)
	a.divide(beyond, shares, wanted, func(name types.NamespacedName) bool { return late[name] == 0 })
	given := 0
	for _, count := range shares {
		given += count
	}
	if given == a.sum.Wanted { // No healthy workload waits.
		a.divide(limit-a.sum.underWay()-given, shares, func(one *ask) int { return one.wanted() }, isAny)
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
func (a *Allocator) divide(free int, shares map[types.NamespacedName]int, wanted func(*ask) int, isOne func(types.NamespacedName) bool) {
	if free <= 0 {
		return
	}
	byNamespace := map[string]*line{}
	for name, one := range a.asks {
		if byNamespace[name.Namespace] == nil {
			byNamespace[name.Namespace] = &line{}
		}
		of := byNamespace[name.Namespace]
		of.underWay += one.UnderWay + shares[name]
		if wanted(one) > shares[name] && isOne(name) {
			of.waiting = append(of.waiting, name)
		}
	}
	less := func(x, y types.NamespacedName) int {
		return cmp.Or(a.asks[x].UnderWay+shares[x]-a.asks[y].UnderWay-shares[y], a.asks[x].turn-a.asks[y].turn)
	}
	first := func(x, y *line) int { return cmp.Or(x.underWay-y.underWay, less(x.waiting[0], y.waiting[0])) }
	var lines []*line
	for _, of := range byNamespace {
		if len(of.waiting) > 0 {
			slices.SortFunc(of.waiting, less)
			lines = append(lines, of)
		}
	}
	slices.SortFunc(lines, first)
	for ; free > 0 && len(lines) > 0; free-- {
		of := lines[0]
		name := of.waiting[0]
		lines, of.waiting = lines[1:], of.waiting[1:]
		shares[name]++
		of.underWay++
		if shares[name] < wanted(a.asks[name]) {
			of.waiting = insert(of.waiting, name, less)
		}
		if len(of.waiting) > 0 {
			lines = insert(lines, of, first)
		}
	}
}

// insert adds one to a list that is in order.
func insert[T any](sorted []T, one T, less func(x, y T) int) []T {
	at, _ := slices.BinarySearchFunc(sorted, one, less)
	return slices.Insert(sorted, at, one)
}

// wake returns the names of those who have a share, and have not been told yet.
func (a *Allocator) wake(shares map[types.NamespacedName]int) []types.NamespacedName {
	var names []types.NamespacedName
	for name := range maps.Keys(shares) {
		if one := a.asks[name]; !one.woken {
			one.woken = true
			names = append(names, name)
		}
	}
	return names
}
