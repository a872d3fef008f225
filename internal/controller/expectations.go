// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"maps"
	"slices"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// ledger remembers what was written to each workload until the cache shows it, what
// was refused until something changes, and what missed a workload that had changed. It keeps the loop from writing
// twice because it reads its own writes late, and from repeating what cannot
// succeed.
type ledger struct {
	now func() time.Time

	mu      sync.Mutex
	entries map[types.NamespacedName]map[types.UID]entry
	owners  map[types.UID]map[types.NamespacedName]bool
}

// entry is the last attempt on one workload.
type entry struct {
	target workload.Ref
	// planned is the resource version that the attempt was planned from, and seen
	// the first one that looked the same.
	planned, seen string
	action        plan.Action
	hash          string
	// generation and version are what the API server answered to a write.
	generation int64
	version    string
	// refusal is its answer if the same would be refused again, else nil, and
	// at is when it gave it: what refuses may be lifted.
	refusal error
	at      time.Time
	// missed is set when the workload had changed before the attempt reached it.
	missed *missed
}

func newLedger(now func() time.Time) *ledger {
	return &ledger{
		now:     now,
		entries: map[types.NamespacedName]map[types.UID]entry{},
		owners:  map[types.UID]map[types.NamespacedName]bool{},
	}
}

// pending tells whether the cache is still behind the last write to the target.
func (l *ledger) pending(owner types.NamespacedName, p *plan.Plan) bool {
	last, ok := l.last(owner, p)
	// Between two requests of ours others may write to the workload's status, so that it
	// is not enough to know the versions that our own requests made.
	isBehind := last.planned == p.ResourceVersion || p.Generation < last.generation || workloadcache.IsOlder(p.ResourceVersion, last.version)
	return ok && last.refusal == nil && isBehind
}

// refusal returns what the API server answered a short while ago to the same
// attempt on a target that looked the same, nil if it has not been tried.
func (l *ledger) refusal(owner types.NamespacedName, p *plan.Plan) error {
	last, ok := l.last(owner, p)
	if !ok || l.now().Sub(last.at) >= lastRetry || last.seen != p.Seen || last.action != p.Action || last.hash != hashOf(p) {
		return nil
	}
	return last.refusal
}

func (l *ledger) last(owner types.NamespacedName, p *plan.Plan) (entry, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.entries[owner][p.Target.UID]
	return found, ok
}

func (l *ledger) wrote(owner types.NamespacedName, p *plan.Plan, written apply.Written) {
	l.put(owner, p, entry{generation: written.Generation, version: written.ResourceVersion})
}

func (l *ledger) refused(owner types.NamespacedName, p *plan.Plan, err error) {
	l.put(owner, p, entry{refusal: err, at: l.now()})
}

func (l *ledger) put(owner types.NamespacedName, p *plan.Plan, e entry) {
	e.target, e.planned, e.seen, e.action, e.hash = p.Target, p.ResourceVersion, p.Seen, p.Action, hashOf(p)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.entries[owner] == nil {
		l.entries[owner] = map[types.UID]entry{}
	}
	l.entries[owner][p.Target.UID] = e
	if l.owners[p.Target.UID] == nil {
		l.owners[p.Target.UID] = map[types.NamespacedName]bool{}
	}
	l.owners[p.Target.UID][owner] = true
}

// generation is what the last write of an owner gave a workload, 0 if none is
// remembered.
func (l *ledger) generation(owner types.NamespacedName, target types.UID) int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.entries[owner][target].generation
}

// besides are the workloads that an owner has written to and that are not among some.
func (l *ledger) besides(owner types.NamespacedName, known []*workloadcache.Record) []workload.Ref {
	l.mu.Lock()
	defer l.mu.Unlock()
	var others []workload.Ref
	for _, uid := range except(l.entries[owner], func(n int) types.UID { return known[n].UID }, len(known)) {
		if e := l.entries[owner][uid]; e.generation > 0 {
			others = append(others, e.target)
		}
	}
	return others
}

// ownersOf are those that have written to a workload.
func (l *ledger) ownersOf(target types.UID) []types.NamespacedName {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Collect(maps.Keys(l.owners[target]))
}

func (l *ledger) drop(owner types.NamespacedName, target types.UID) {
	delete(l.entries[owner], target)
	delete(l.owners[target], owner)
	if len(l.owners[target]) == 0 {
		delete(l.owners, target)
	}
}

// keep drops the entries of an owner's workloads that no plan is about any more.
func (l *ledger) keep(owner types.NamespacedName, plans []plan.Plan) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, uid := range except(l.entries[owner], func(n int) types.UID { return plans[n].Target.UID }, len(plans)) {
		l.drop(owner, uid)
	}
	if len(l.entries[owner]) == 0 {
		delete(l.entries, owner)
	}
}

// except are the keys of a map that are not among so many others, each of which is
// given once. Most often there are none, and nothing has to be made to find that out.
func except[V any](of map[types.UID]V, other func(n int) types.UID, count int) []types.UID {
	found := 0
	for n := range count {
		if _, ok := of[other(n)]; ok {
			found++
		}
	}
	if found == len(of) {
		return nil
	}
	others := make(map[types.UID]bool, count)
	for n := range count {
		others[other(n)] = true
	}
	return slices.DeleteFunc(slices.Collect(maps.Keys(of)), func(uid types.UID) bool { return others[uid] })
}

func hashOf(p *plan.Plan) string {
	if p.Desired == nil {
		return ""
	}
	return p.Desired.InjectedHash()
}
