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

// Demand is the demand of one VectorSidecar for rollout slots, in workloads.
type Demand struct {
	// Matched is the number of matched workloads.
	Matched int
	// InProgress is the number of workloads that roll out or soak. Wanted is the number of further workloads that the
	// VectorSidecar's own settings allow to start.
	InProgress, Wanted int
	// FailedInProgress and FailedWanted are the same numbers for workloads that failed before. These workloads get
	// only slots that no other workload wants, and do not block others.
	FailedInProgress, FailedWanted int
}

// totalInProgress returns the number of workloads that use a slot.
func (d *Demand) totalInProgress() int { return d.InProgress + d.FailedInProgress }

// totalWanted returns the number of workloads that wait for a slot.
func (d *Demand) totalWanted() int { return d.Wanted + d.FailedWanted }

// SlotAllocator assigns rollout slots to the VectorSidecars of an installation. At most Rules.Limit workloads have a
// rollout in progress at the same time. A free slot goes to the namespace that uses the fewest slots, regardless of its
// number of VectorSidecars. There it goes to the VectorSidecar that uses the fewest, and among equals to the one that
// has waited longest. It is safe for concurrent use.
//
// A slot that is used for longer than Timeout does not block other VectorSidecars. Only application owners can end
// soaks and pods that never start, and one owner could use all slots.
//
// Its state is lost on a restart. Each VectorSidecar then reports its rollouts in progress again, and slots are assigned
// after all have reported.
type SlotAllocator struct {
	now func() time.Time

	mu      sync.Mutex
	demands map[types.NamespacedName]*slotState
	// sum is the total demand of all VectorSidecars.
	sum Demand
	// grants is the number of grants of slots so far.
	grants int
	// awaitingReports are the VectorSidecars that have not reported yet. It is nil until ExpectReports is called.
	awaitingReports map[types.NamespacedName]bool
}

// slotState is the reported demand of one VectorSidecar.
type slotState struct {
	Demand
	// since are the times since when the slots are used, oldest first. The oldest slot is released first.
	since []time.Time
	// lastGrant is the number of the last grant to the VectorSidecar, or of its first report. The VectorSidecar with the
	// lowest number has waited longest.
	lastGrant int
	// withdrawn is the demand that Withdraw removed after a failed reconcile. The VectorSidecar waits for slots again
	// when a rollout of any VectorSidecar has ended.
	withdrawn int
	// unreported is the part of InProgress and FailedInProgress that was granted after the last report.
	unreported Demand
	// woken is true from the requeue of the VectorSidecar for a free slot until its next report.
	woken bool
}

// Timeout is the time for which a used slot blocks other VectorSidecars.
const Timeout = time.Hour

// NewSlotAllocator returns a SlotAllocator without any reports. now returns the current time.
func NewSlotAllocator(now func() time.Time) *SlotAllocator {
	return &SlotAllocator{now: now, demands: map[types.NamespacedName]*slotState{}}
}

// HasMembers reports whether ExpectReports has been called.
func (a *SlotAllocator) HasMembers() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.awaitingReports != nil
}

// ExpectReports sets the VectorSidecars that must report before a slot is assigned. The caller passes all existing
// ones. Only the first call has an effect.
func (a *SlotAllocator) ExpectReports(names []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.awaitingReports != nil {
		return
	}
	a.awaitingReports = map[types.NamespacedName]bool{}
	a.addExpected(names)
}

// ReplaceExpected expects the first reports of the members instead of the first report of a VectorSidecar. It returns
// the VectorSidecars to requeue.
func (a *SlotAllocator) ReplaceExpected(name types.NamespacedName, members []types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.awaitingReports[name] {
		return nil
	}
	delete(a.awaitingReports, name)
	a.addExpected(members)
	return a.membersToRequeue(a.assignSlots(rules))
}

// addExpected expects the first report of each VectorSidecar that has not reported yet. The caller must hold mu.
func (a *SlotAllocator) addExpected(names []types.NamespacedName) {
	for _, name := range names {
		if a.demands[name] == nil {
			a.awaitingReports[name] = true
		}
	}
}

// SetDemand replaces the reported demand of a VectorSidecar.
func (a *SlotAllocator) SetDemand(name types.NamespacedName, demand Demand) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.setDemand(name, demand)
}

// setDemand replaces the reported demand of a VectorSidecar, and returns its state. The caller must hold mu.
func (a *SlotAllocator) setDemand(name types.NamespacedName, demand Demand) *slotState {
	state := a.demands[name]
	if state == nil {
		a.grants++
		state = &slotState{lastGrant: a.grants}
		a.demands[name] = state
	}
	a.replaceDemand(state, demand)
	state.occupySlots(demand.InProgress, a.now())
	state.woken, state.withdrawn, state.unreported = false, 0, Demand{}
	delete(a.awaitingReports, name)
	return state
}

// replaceDemand sets the demand in a state, and updates the total demand. The caller must hold mu.
func (a *SlotAllocator) replaceDemand(state *slotState, demand Demand) {
	a.sum.Matched += demand.Matched - state.Matched
	a.sum.InProgress += demand.InProgress - state.InProgress
	a.sum.Wanted += demand.Wanted - state.Wanted
	a.sum.FailedInProgress += demand.FailedInProgress - state.FailedInProgress
	a.sum.FailedWanted += demand.FailedWanted - state.FailedWanted
	state.Demand = demand
}

// occupySlots sets the number of used slots. If it decreases, the oldest slots are released first.
func (o *slotState) occupySlots(inProgress int, now time.Time) {
	o.since = o.since[max(0, len(o.since)-inProgress):]
	for len(o.since) < inProgress {
		o.since = append(o.since, now)
	}
}

// overdueSlots returns the number of slots that have been used for longer than Timeout.
func (o *slotState) overdueSlots(now time.Time) int {
	count, _ := slices.BinarySearchFunc(o.since, now.Add(-Timeout), time.Time.Compare)
	return min(count, o.InProgress)
}

// Reserve replaces the reported demand of a VectorSidecar. It returns how many of the wanted workloads may start, which
// count as in progress from then on. It also returns the other VectorSidecars to requeue because slots are free.
func (a *SlotAllocator) Reserve(name types.NamespacedName, demand Demand, rules *Rules) (granted int, wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if current := a.demands[name]; current != nil && demand.totalInProgress() < current.totalInProgress() {
		a.reclaimSlots()
	}
	state := a.setDemand(name, demand)
	shares := map[types.NamespacedName]int{name: demand.totalWanted()}
	if rules.isLimited() {
		shares = a.assignSlots(rules)
	}
	if granted = shares[name]; granted > 0 {
		healthy := min(granted, demand.Wanted)
		failed := granted - healthy
		a.replaceDemand(state, Demand{
			Matched: demand.Matched, InProgress: demand.InProgress + healthy, Wanted: demand.Wanted - healthy,
			FailedInProgress: demand.FailedInProgress + failed, FailedWanted: demand.FailedWanted - failed,
		})
		state.unreported = Demand{InProgress: healthy, FailedInProgress: failed}
		a.grants++
		state.lastGrant = a.grants
	}
	delete(shares, name)
	return granted, a.membersToRequeue(shares)
}

// NextSlotTimeout returns the time until the next slot has been used for longer than Timeout, so that other VectorSidecars may
// start. It returns 0 if no such slot exists.
func (a *SlotAllocator) NextSlotTimeout() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	var shortest time.Duration
	now := a.now()
	for _, state := range a.demands {
		if overdue := state.overdueSlots(now); overdue < len(state.since) {
			if wait := state.since[overdue].Add(Timeout).Sub(now) + time.Millisecond; shortest == 0 || wait < shortest {
				shortest = wait
			}
		}
	}
	return shortest
}

// Report corrects the number of workloads in progress after a VectorSidecar has used its slots. The number decreases
// if writes failed. failed is the number of workloads in progress that failed before. Report returns the other
// VectorSidecars to requeue.
func (a *SlotAllocator) Report(name types.NamespacedName, inProgress, failed int, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	state := a.demands[name]
	if state == nil {
		return nil
	}
	state.unreported = Demand{}
	if state.InProgress <= inProgress && state.FailedInProgress <= failed {
		return nil
	}
	demand := state.Demand
	demand.InProgress, demand.FailedInProgress = min(inProgress, state.InProgress), min(failed, state.FailedInProgress)
	a.replaceDemand(state, demand)
	shares := a.assignSlots(rules)
	delete(shares, name) // The VectorSidecar decides by itself when to retry.
	return a.membersToRequeue(shares)
}

// Withdraw removes the demand of a VectorSidecar with a failed reconcile, and releases its granted slots that it did
// not report as used. Other VectorSidecars do not wait for its report. Slots that are free because of failed writes
// do not requeue it. Withdraw returns the VectorSidecars to requeue.
func (a *SlotAllocator) Withdraw(name types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.awaitingReports, name)
	if state := a.demands[name]; state != nil {
		unused := state.unreported
		state.withdrawn += state.Wanted + unused.InProgress
		state.unreported = Demand{}
		a.replaceDemand(state, Demand{Matched: state.Matched, InProgress: state.InProgress - unused.InProgress, FailedInProgress: state.FailedInProgress - unused.FailedInProgress})
	}
	return a.membersToRequeue(a.assignSlots(rules))
}

// reclaimSlots restores the demand that Withdraw removed, because a rollout has ended.
func (a *SlotAllocator) reclaimSlots() {
	for _, state := range a.demands {
		if state.withdrawn > 0 {
			demand := state.Demand
			demand.Wanted = state.withdrawn
			a.replaceDemand(state, demand)
			state.withdrawn = 0
		}
	}
}

// Forget removes a deleted VectorSidecar. It returns the VectorSidecars to requeue.
func (a *SlotAllocator) Forget(name types.NamespacedName, rules *Rules) (wake []types.NamespacedName) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.awaitingReports, name)
	if state := a.demands[name]; state != nil {
		if state.totalInProgress() > 0 {
			a.reclaimSlots()
		}
		a.replaceDemand(state, Demand{})
		delete(a.demands, name)
	}
	return a.membersToRequeue(a.assignSlots(rules))
}

// SlotUsage are the numbers of rollout slots of all VectorSidecars.
type SlotUsage struct {
	// Limit is the maximum number of workloads with a rollout in progress, or 0 for no limit.
	Limit int
	// Used is the number of workloads with a rollout in progress. Waiting is the number of workloads that wait to
	// start.
	Used, Waiting int
}

// Usage returns the numbers of used and wanted rollout slots.
func (a *SlotAllocator) Usage(rules *Rules) SlotUsage {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.slotUsage(rules)
}

// slotUsage returns the limit of slots, and the numbers of workloads that use a slot or wait for one. The caller must
// hold mu.
func (a *SlotAllocator) slotUsage(rules *Rules) SlotUsage {
	return SlotUsage{Limit: rules.Limit(a.sum.Matched), Used: a.sum.totalInProgress(), Waiting: a.sum.totalWanted()}
}

// assignSlots divides the free slots among the VectorSidecars, and returns the number for each one that gets any. It
// returns nil before all VectorSidecars have reported.
func (a *SlotAllocator) assignSlots(rules *Rules) map[types.NamespacedName]int {
	if !rules.isLimited() || len(a.awaitingReports) > 0 || a.awaitingReports == nil {
		return nil
	}
	limit, now := rules.Limit(a.sum.Matched), a.now()
	overdue := map[types.NamespacedName]int{}
	free := limit - a.sum.InProgress
	extra := min(free, 0)
	for name, state := range a.demands {
		if count := state.overdueSlots(now); count > 0 {
			overdue[name] = count
			extra += count
		}
	}
	shares := map[types.NamespacedName]int{}
	everyone, wantedHealthy := func(types.NamespacedName) bool { return true }, func(state *slotState) int { return state.Wanted }
	a.divideSlots(free, shares, wantedHealthy, everyone)
	a.divideSlots(extra, shares, wantedHealthy, func(name types.NamespacedName) bool { return overdue[name] == 0 })
	granted := 0
	for _, count := range shares {
		granted += count
	}
	if granted == a.sum.Wanted { // No healthy workload waits.
		a.divideSlots(limit-a.sum.totalInProgress()-granted, shares, func(state *slotState) int { return state.totalWanted() }, everyone)
	}
	return shares
}

// namespaceQueue contains the VectorSidecars of one namespace that wait, in the order in which they get slots.
type namespaceQueue struct {
	// inProgress is the number of slots that the whole namespace uses.
	inProgress int
	waiting    []types.NamespacedName
}

// divideSlots adds the free slots to the shares one after another. Each slot goes to the VectorSidecar with the fewest
// slots, in the namespace with the fewest slots. No VectorSidecar gets more than its demand.
func (a *SlotAllocator) divideSlots(free int, shares map[types.NamespacedName]int, demandFor func(*slotState) int, isEligible func(types.NamespacedName) bool) {
	if free <= 0 {
		return
	}
	byNamespace := map[string]*namespaceQueue{}
	for name, state := range a.demands {
		if byNamespace[name.Namespace] == nil {
			byNamespace[name.Namespace] = &namespaceQueue{}
		}
		queue := byNamespace[name.Namespace]
		queue.inProgress += state.InProgress + shares[name]
		if demandFor(state) > shares[name] && isEligible(name) {
			queue.waiting = append(queue.waiting, name)
		}
	}
	compareMembers := func(x, y types.NamespacedName) int {
		return cmp.Or(a.demands[x].InProgress+shares[x]-a.demands[y].InProgress-shares[y], a.demands[x].lastGrant-a.demands[y].lastGrant)
	}
	compareQueues := func(x, y *namespaceQueue) int {
		return cmp.Or(x.inProgress-y.inProgress, compareMembers(x.waiting[0], y.waiting[0]))
	}
	var queues []*namespaceQueue
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
		queue.inProgress++
		if shares[name] < demandFor(a.demands[name]) {
			queue.waiting = insertSorted(queue.waiting, name, compareMembers)
		}
		if len(queue.waiting) > 0 {
			queues = insertSorted(queues, queue, compareQueues)
		}
	}
}

// insertSorted adds an item to a sorted list.
func insertSorted[T any](sorted []T, item T, compareItems func(x, y T) int) []T {
	i, _ := slices.BinarySearchFunc(sorted, item, compareItems)
	return slices.Insert(sorted, i, item)
}

// membersToRequeue returns the VectorSidecars that have a share and have not been requeued for it yet.
func (a *SlotAllocator) membersToRequeue(shares map[types.NamespacedName]int) []types.NamespacedName {
	var names []types.NamespacedName
	for name := range maps.Keys(shares) {
		if state := a.demands[name]; !state.woken {
			state.woken = true
			names = append(names, name)
		}
	}
	return names
}
