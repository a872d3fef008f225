// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// A workload that gets the same sidecar this often within this time is in a loop
// with another writer: once for the injection, and three repairs.
const (
	loopWrites = 4
	loopWindow = 10 * time.Minute
	// The first break lasts this long, each further one twice as long.
	firstBreak = 10 * time.Minute
	lastBreak  = 6 * time.Hour
)

// breaker breaks off repairs that do not last. After a break, one more try tells
// whether the other writer has stopped.
type breaker struct {
	now func() time.Time

	mu     sync.Mutex
	rounds map[types.NamespacedName]map[types.UID]*rounds
}

// rounds are the writes of one sidecar to one workload.
type rounds struct {
	hash   string
	writes []time.Time
	breaks int
	until  time.Time
	undone int
}

func newBreaker(now func() time.Time) *breaker {
	return &breaker{now: now, rounds: map[types.NamespacedName]map[types.UID]*rounds{}}
}

// wrote notes a write, and tells whether the same sidecar was written before.
// Another one begins a new count.
func (b *breaker) wrote(owner types.NamespacedName, target types.UID, hash string) (again bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.rounds[owner] == nil {
		b.rounds[owner] = map[types.UID]*rounds{}
	}
	r := b.rounds[owner][target]
	again = r != nil && r.hash == hash
	if !again {
		r = &rounds{hash: hash}
		b.rounds[owner][target] = r
	}
	now := b.now()
	r.writes = slices.DeleteFunc(r.writes, func(at time.Time) bool { return now.Sub(at) >= loopWindow })
	r.writes = append(r.writes, now)
	if len(r.writes) >= loopWrites || r.breaks > 0 && now.Sub(r.until) < loopWindow {
		r.undone += len(r.writes)
		r.until = now.Add(min(firstBreak<<min(r.breaks, 10), lastBreak))
		r.breaks++
		r.writes = nil
	}
	return again
}

// open returns the workloads of an owner whose repairs are broken off, and how
// long to wait for the first of them; 0 if there are none.
func (b *breaker) open(owner types.NamespacedName) (loops map[types.UID]decision.Loop, wait time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	loops, now := map[types.UID]decision.Loop{}, b.now()
	for target, r := range b.rounds[owner] {
		if !now.Before(r.until) {
			continue
		}
		left := r.until.Sub(now)
		loops[target] = decision.Loop{InjectedHash: r.hash, Writes: r.undone}
		if wait == 0 || left < wait {
			wait = left
		}
	}
	return loops, wait
}

// keep drops what is remembered of an owner's workloads that no plan is about any
// more, and of those that are not to carry the sidecar: what goes by a wish is no
// round of a loop, and whoever wishes it back wants a new try.
func (b *breaker) keep(owner types.NamespacedName, plans []plan.Plan) {
	b.mu.Lock()
	defer b.mu.Unlock()
	wished := func(n int) types.UID {
		if p := &plans[n]; p.Action != plan.Remove && p.Reason != meta.ReasonOptedOut {
			return p.Target.UID
		}
		return ""
	}
	for _, target := range except(b.rounds[owner], wished, len(plans)) {
		delete(b.rounds[owner], target)
	}
	if len(b.rounds[owner]) == 0 {
		delete(b.rounds, owner)
	}
}
