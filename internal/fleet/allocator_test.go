// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package fleet

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func named(name string) types.NamespacedName {
	return types.NamespacedName{Namespace: "shop", Name: name}
}

// installation is a SlotAllocator with its VectorSidecars.
type installation struct {
	*SlotAllocator
	rules *Rules
	// wants and inProgress are by VectorSidecar; asking are those that will ask.
	wants, inProgress map[types.NamespacedName]int
	asking            map[types.NamespacedName]bool
}

func newInstallation(t *testing.T, rules string, wants map[string]int) *installation {
	t.Helper()
	i := &installation{
		SlotAllocator: NewSlotAllocator(time.Now), rules: parse(t, rules),
		wants: map[types.NamespacedName]int{}, inProgress: map[types.NamespacedName]int{}, asking: map[types.NamespacedName]bool{},
	}
	var all []types.NamespacedName
	for name, want := range wants {
		i.wants[named(name)], i.asking[named(name)] = want, true
		all = append(all, named(name))
	}
	i.ExpectReports(all)
	return i
}

// ask has a VectorSidecar ask, which begins what it is granted.
func (i *installation) ask(name types.NamespacedName) int {
	delete(i.asking, name)
	granted, wake := i.Reserve(name, Demand{Matched: i.wants[name] + i.inProgress[name], InProgress: i.inProgress[name], Wanted: i.wants[name]}, i.rules)
	i.wants[name] -= granted
	i.inProgress[name] += granted
	for _, one := range wake {
		i.asking[one] = true
	}
	return granted
}

// settle has all ask that will, in a random order.
func (i *installation) settle(t *testing.T, random *rand.Rand) {
	t.Helper()
	for len(i.asking) > 0 {
		var names []types.NamespacedName
		for name := range i.asking {
			names = append(names, name)
		}
		i.ask(names[random.IntN(len(names))])
		total := 0
		for _, n := range i.inProgress {
			total += n
		}
		if limit := i.Usage(i.rules).Limit; limit > 0 {
			require.LessOrEqual(t, total, limit)
		}
	}
}

// finish ends all that is under way.
func (i *installation) finish() {
	for name, n := range i.inProgress {
		if n > 0 {
			i.inProgress[name] = 0
			i.asking[name] = true
		}
	}
}

// Without a limit, all rollouts start at once, before each VectorSidecar has reported.
func TestSlotAllocator_GrantsAllWithoutLimit(t *testing.T) {
	i := newInstallation(t, "", map[string]int{"a": 100, "b": 1})
	require.Equal(t, 100, i.ask(named("a")), "although b was not heard yet")
	require.Equal(t, SlotUsage{Used: 100}, i.Usage(i.rules))
}

// After a restart, the allocator grants no slots until each VectorSidecar has reported how many it already uses.
func TestSlotAllocator_WaitsForAllReports(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 2", map[string]int{"a": 5, "b": 0, "c": 0})
	i.inProgress[named("b")] = 1
	require.Zero(t, i.ask(named("a")))
	require.Zero(t, i.ask(named("b")))
	require.Empty(t, i.Withdraw(named("x"), i.rules))

	woken := i.Withdraw(named("c"), i.rules)

	require.Equal(t, []types.NamespacedName{named("a")}, woken, "c cannot say what it wants, and nobody waits for it")
	require.Equal(t, 1, i.ask(named("a")), "b has the other place")
	require.Equal(t, SlotUsage{Limit: 2, Used: 2, Waiting: 4}, i.Usage(i.rules))
}

// A deleted VectorSidecar gets no slots, and releases those that it used.
func TestSlotAllocator_SkipsDeletedVectorSidecars(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 1", map[string]int{"a": 1, "b": 0})
	require.Zero(t, i.ask(named("a")))
	require.Equal(t, []types.NamespacedName{named("a")}, i.Forget(named("b"), i.rules))
	require.Equal(t, 1, i.ask(named("a")))
	require.Empty(t, i.Forget(named("a"), i.rules))
	require.Equal(t, SlotUsage{Limit: 1}, i.Usage(i.rules))
}

// An expected ClusterVectorSidecar is replaced by its namespaces. The allocator grants slots after each of these
// namespaces has reported.
func TestSlotAllocator_WaitsForReportsOfEachNamespace(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 2", map[string]int{"a": 5, "b": 0})
	require.Zero(t, i.ask(named("a")))
	i.inProgress[named("one")] = 1
	require.Zero(t, i.ask(named("one")), "before it is known that it is one of them")
	require.Empty(t, i.ReplaceExpected(named("b"), []types.NamespacedName{named("one"), named("two")}, i.rules))
	require.Zero(t, i.ask(named("a")))
	require.Zero(t, i.ask(named("two")))
	require.Equal(t, 1, i.ask(named("a")), "one has the other place")

	require.Empty(t, i.ReplaceExpected(named("c"), []types.NamespacedName{named("three")}, i.rules), "it is not waited for")
	i.inProgress[named("one")] = 0
	require.Zero(t, i.ask(named("one")))
	require.Equal(t, 1, i.ask(named("a")))
}

// A VectorSidecar gets a slot, and its write fails. The slot is released.
func TestSlotAllocator_ReleasesSlotAfterFailedWrite(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 1", map[string]int{"a": 1, "b": 1})
	require.Zero(t, i.ask(named("a")))
	require.Zero(t, i.ask(named("b")), "a has waited longer")
	require.Equal(t, 1, i.ask(named("a")))
	require.Empty(t, i.Report(named("a"), 1, 0, i.rules))

	require.Equal(t, []types.NamespacedName{named("b")}, i.Report(named("a"), 0, 0, i.rules))
	require.Equal(t, 1, i.ask(named("b")))
}

// A VectorSidecar gets slots, and its reconcile fails before it reports them. The new slots are released, and those
// that it reported before stay in use.
func TestSlotAllocator_ReleasesGrantIfReconcileFails(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 3", map[string]int{"a": 2, "b": 5})
	i.inProgress[named("a")] = 1
	require.Zero(t, i.ask(named("a")), "b has not reported")
	require.Equal(t, 1, i.ask(named("b")))
	require.Equal(t, 1, i.ask(named("a")))

	require.Equal(t, []types.NamespacedName{named("b")}, i.Withdraw(named("a"), i.rules))
	require.Equal(t, SlotUsage{Limit: 3, Used: 2, Waiting: 4}, i.Usage(i.rules))
	require.Equal(t, 1, i.ask(named("b")))

	require.Empty(t, i.Report(named("b"), 2, 0, i.rules))
	require.Empty(t, i.Withdraw(named("b"), i.rules), "the reported slots are in use")
	require.Equal(t, SlotUsage{Limit: 3, Used: 3}, i.Usage(i.rules))
}

// If a VectorSidecar returns an unused slot, it is not reconciled again for that slot.
func TestSlotAllocator_DoesNotWakeVectorSidecarForOwnSlot(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 1", map[string]int{"a": 2})
	require.Equal(t, 1, i.ask(named("a")))

	require.Empty(t, i.Report(named("a"), 0, 0, i.rules), "it would try without end")
}

// If the reconcile of a VectorSidecar failed, it is repeated when another rollout ends, because the error may be gone.
// Two such VectorSidecars do not start each other endlessly.
func TestSlotAllocator_WakesFailedVectorSidecarAfterRollout(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 1", map[string]int{"a": 2, "b": 3})
	a, b := named("a"), named("b")
	fails := func(name types.NamespacedName) []types.NamespacedName {
		i.inProgress[name] = 0
		return append(i.Report(name, 0, 0, i.rules), i.Withdraw(name, i.rules)...)
	}
	require.Zero(t, i.ask(a))
	require.Zero(t, i.ask(b))
	require.Equal(t, 1, i.ask(a))
	require.Equal(t, []types.NamespacedName{b}, fails(a))
	require.Equal(t, 1, i.ask(b))
	require.Empty(t, fails(b))

	for _, ends := range []func() []types.NamespacedName{
		func() []types.NamespacedName { return i.Forget(b, i.rules) },
		func() []types.NamespacedName {
			_, wake := i.Reserve(b, Demand{}, i.rules)
			return wake
		},
	} {
		require.Equal(t, 1, i.ask(b))
		require.Empty(t, i.Withdraw(a, i.rules), "there is no place")
		i.finish()
		require.Equal(t, []types.NamespacedName{a}, ends())
		i.wants[a] = 2
		require.Equal(t, 1, i.ask(a))
		require.Empty(t, fails(a))
	}
}

// A VectorSidecar with a thousand workloads does not block VectorSidecars with one workload.
func TestSlotAllocator_StartsSmallDemandWithinTwoBatches(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 1))
		wants := map[string]int{"big": 1000}
		for n := range 50 {
			wants[fmt.Sprintf("small-%d", n)] = 1
		}
		i := newInstallation(t, "maxConcurrent: 30", wants)
		i.settle(t, random)
		require.Equal(t, 30, i.Usage(i.rules).Used)
		i.finish()
		i.settle(t, random)
		for name, left := range i.wants {
			if name != named("big") {
				require.Zero(t, left, "%s with seed %d", name, seed)
			}
		}
		require.Equal(t, 30, i.Usage(i.rules).Used, "no place is left empty")
	}
}

// For any order of requests, all rollouts finish in the smallest possible number of batches, and the limit is never
// exceeded.
func TestSlotAllocator_NeedsFewestBatches(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 2))
		wants, total := map[string]int{}, 0
		for n := range 1 + random.IntN(30) {
			want := random.IntN(12)
			wants[fmt.Sprint(n)] = want
			total += want
		}
		limit := 1 + random.IntN(20)
		i := newInstallation(t, fmt.Sprintf("maxConcurrent: %d", limit), wants)
		turns := 0
		for ; total > 0 && turns < 1000; turns++ {
			i.settle(t, random)
			begun := i.Usage(i.rules).Used
			require.Equal(t, min(total, limit), begun, "seed %d", seed)
			total -= begun
			i.finish()
		}
		require.Zero(t, total)
	}
}

func BenchmarkReadAnnotations(b *testing.B) {
	for _, rules := range []string{"", "maxConcurrent: 50"} {
		b.Run(rules, func(b *testing.B) {
			parsed, err := Parse("", []byte(rules))
			require.NoError(b, err)
			allocator, name := NewSlotAllocator(time.Now), types.NamespacedName{}
			allocator.ExpectReports(nil)
			for n := range 1000 {
				name.Name = fmt.Sprint(n)
				allocator.Reserve(name, Demand{Matched: 10, InProgress: 1}, parsed)
			}
			for b.Loop() {
				allocator.Reserve(name, Demand{Matched: 10, InProgress: 1, Wanted: 1}, parsed)
			}
		})
	}
}

// A VectorSidecar uses rollout slots for too long, for example because its pods never start. Other VectorSidecars get
// as many additional slots.
func TestSlotAllocator_AddsSlotsForLongUsedOnes(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 4", map[string]int{"a": 9, "b": 2, "c": 3})
	now := time.Unix(10_000, 0)
	i.now = func() time.Time { return now }
	a, b, c := named("a"), named("b"), named("c")
	i.SetDemand(b, Demand{})
	i.SetDemand(c, Demand{})
	require.Equal(t, 4, i.ask(a))
	i.ask(a)
	require.Zero(t, i.ask(b))

	require.Equal(t, Timeout+time.Millisecond, i.NextSlotTimeout())
	now = now.Add(Timeout - time.Second)
	require.Zero(t, i.ask(b), "it may be about to end")
	i.inProgress[a]--
	require.Zero(t, i.ask(a))
	require.Equal(t, 1, i.ask(b), "the place that was given back")
	require.Zero(t, i.ask(c))

	now = now.Add(i.NextSlotTimeout())
	require.Zero(t, i.ask(a), "it has three of its own")
	require.Equal(t, 3, i.ask(b)+i.ask(c), "as many as are held for too long")
	require.Zero(t, i.ask(b)+i.ask(c))
	require.Equal(t, SlotUsage{Limit: 4, Used: 7, Waiting: 6}, i.Usage(i.rules))

	i.inProgress[a] = 0
	i.SetDemand(b, Demand{})
	i.SetDemand(c, Demand{})
	require.Positive(t, i.ask(a), "it has given them back")
}

// If one namespace has many VectorSidecars that use all rollout slots, the next free slot goes to another namespace.
func TestSlotAllocator_SharesSlotsAmongNamespaces(t *testing.T) {
	now := time.Unix(10_000, 0)
	allocator, rules := NewSlotAllocator(func() time.Time { return now }), parse(t, "maxConcurrent: 4")
	allocator.ExpectReports(nil)
	ask := func(name types.NamespacedName) int {
		granted, _ := allocator.Reserve(name, Demand{Matched: 1, Wanted: 1}, rules)
		return granted
	}
	for n := range 100 {
		name := types.NamespacedName{Namespace: "hostile", Name: fmt.Sprint(n)}
		if granted := ask(name); granted > 0 {
			allocator.SetDemand(name, Demand{Matched: 1, InProgress: granted})
		}
	}
	require.Equal(t, 4, allocator.Usage(rules).Used)
	one, two := named("one"), named("two")
	require.Zero(t, ask(one)+ask(two), "all places are taken")

	allocator.SetDemand(types.NamespacedName{Namespace: "hostile", Name: "0"}, Demand{Matched: 1})
	require.Equal(t, 1, ask(one), "the first one that is given back")
	now = now.Add(Timeout + time.Millisecond)
	require.Equal(t, 1, ask(two), "and one that is held for too long, whoever else of that namespace waits longer")
}

// A VectorSidecar that releases a slot releases its oldest one. So only its remaining slots can count as used for too
// long.
func TestSlotAllocator_ReleasesOldestSlotsFirst(t *testing.T) {
	now := time.Unix(10_000, 0)
	allocator, rules, a, b := NewSlotAllocator(func() time.Time { return now }), parse(t, "maxConcurrent: 3"), named("a"), named("b")
	allocator.ExpectReports([]types.NamespacedName{a, b})
	for range 3 {
		allocator.SetDemand(b, Demand{})
		allocator.SetDemand(a, Demand{InProgress: 3})
		now = now.Add(Timeout / 2)
		allocator.SetDemand(a, Demand{InProgress: 2})
	}
	allocator.SetDemand(a, Demand{InProgress: 3})
	granted, _ := allocator.Reserve(b, Demand{Wanted: 3}, rules)
	require.Zero(t, granted, "none of its places is older than an hour")

	now = now.Add(Timeout)
	granted, _ = allocator.Reserve(b, Demand{Wanted: 3}, rules)
	require.Equal(t, 2, granted)
}

// The times of used slots are lost at a restart. Other VectorSidecars then wait for up to one more hour for additional
// slots.
func TestSlotAllocator_RestartsSlotTimesAfterRestart(t *testing.T) {
	now := time.Unix(10_000, 0)
	rules, a, b := parse(t, "maxConcurrent: 2"), named("a"), named("b")
	for restarts := range 2 {
		allocator := NewSlotAllocator(func() time.Time { return now })
		allocator.ExpectReports([]types.NamespacedName{a, b})
		asks := func() int {
			granted, _ := allocator.Reserve(b, Demand{Wanted: 3}, rules)
			return granted
		}
		require.Zero(t, asks(), "a has not been heard")
		allocator.SetDemand(a, Demand{InProgress: 2})
		require.Zero(t, asks())
		now = now.Add(Timeout - time.Minute)
		require.Zero(t, asks())
		if restarts == 1 {
			now = now.Add(allocator.NextSlotTimeout())
			require.Equal(t, 2, asks())
		}
	}
}

// Workloads that failed before the rollout get only slots that no healthy workload of any VectorSidecar requests.
func TestSlotAllocator_ServesFailedWorkloadsLast(t *testing.T) {
	i := newInstallation(t, "maxConcurrent: 2", map[string]int{"broken": 0, "healthy": 3})
	ask := func(name string, demand Demand) int {
		granted, _ := i.Reserve(named(name), demand, i.rules)
		return granted
	}
	require.Zero(t, ask("broken", Demand{Matched: 3, FailedWanted: 3}), "the other has not reported")
	require.Equal(t, 2, ask("healthy", Demand{Matched: 3, Wanted: 3}))
	require.Zero(t, ask("broken", Demand{Matched: 3, FailedWanted: 3}), "no slot is free")
	require.Equal(t, 1, ask("healthy", Demand{Matched: 3, InProgress: 1, Wanted: 1}), "a healthy workload gets the free slot")
	require.Zero(t, ask("broken", Demand{Matched: 3, FailedWanted: 3}))

	_, wake := i.Reserve(named("healthy"), Demand{Matched: 3, InProgress: 1}, i.rules)
	require.Equal(t, []types.NamespacedName{named("broken")}, wake)
	require.Equal(t, 1, ask("broken", Demand{Matched: 3, FailedWanted: 3}), "no healthy workload waits")
	require.Zero(t, ask("broken", Demand{Matched: 3, FailedInProgress: 1, FailedWanted: 2}), "the limit holds for both together")
	require.Equal(t, 1, ask("healthy", Demand{Matched: 4, InProgress: 1, Wanted: 1}), "a failed workload holds no slot against a healthy one")
	require.Equal(t, SlotUsage{Limit: 2, Used: 3, Waiting: 2}, i.Usage(i.rules))

	require.Empty(t, i.Report(named("broken"), 0, 1, i.rules))
	require.Equal(t, 2, ask("broken", Demand{Matched: 3, FailedWanted: 2})+ask("healthy", Demand{Matched: 4})+ask("broken", Demand{Matched: 3, FailedWanted: 2}))
}
