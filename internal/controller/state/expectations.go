// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// expectations are what is expected of the workloads of a VectorSidecar, by UID.
type expectations struct {
	*shared

	name types.NamespacedName
	all  map[types.UID]*expectation
}

// expectation is what is expected of one workload: that the cache will show the last write,
// that the same attempt would be refused again, or that the workload has changed before the
// attempt reached it. It prevents duplicate writes while the cache lags behind our own, and
// from repeating what cannot succeed. Beside it stand the writes that were undone.
type expectation struct {
	*attempt
	*repairs
}

// repairs are the writes of one sidecar to one workload. Repairs that do not last are broken
// off. After a break, one more try tells whether the other writer has stopped.
type repairs struct {
	injected string
	writes   []time.Time
	breaks   int
	until    time.Time
	undone   int
}

// attempt is the last one on a workload.
type attempt struct {
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
	missed *Missed
}

// Missed is what is remembered of a workload that was not as an attempt on it was planned
// from. Nothing is tried again on that view before it changes, or a look at the live
// workload has shown what is true.
type Missed struct {
	// Look is when to look, and Wait how long that was from the attempt or from
	// the look before.
	Look time.Time
	Wait time.Duration
	// IsCurrent reports whether a look has shown the very version planned from, so
	// that something else has refused the attempt.
	IsCurrent bool
}

// next is the look after this one, later each time.
func (m *Missed) next(now time.Time) *Missed {
	wait := FirstRetry
	if m != nil {
		wait = min(2*m.Wait, LastRetry)
	}
	return &Missed{Look: now.Add(wait), Wait: wait}
}

// IsPending reports whether the cache is still behind the last write to the target of a plan.
// Between two requests of ours others may write to the workload's status, so that it is not
// enough to know the versions that our own requests made.
func (s *expectations) IsPending(p *plan.Plan) bool {
	last, ok := s.last(p.Target.UID)
	isBehind := last.planned == p.ResourceVersion || p.Generation < last.generation || workloadcache.IsOlder(p.ResourceVersion, last.version)
	return ok && last.refusal == nil && isBehind
}

// Refusal returns what the API server answered a short while ago to the same attempt on a
// target that looked the same, nil if it has not been tried.
func (s *expectations) Refusal(p *plan.Plan) error {
	last, ok := s.last(p.Target.UID)
	if !ok || s.now().Sub(last.at) >= LastRetry || last.seen != p.Seen || last.action != p.Action || last.hash != p.InjectedHash() {
		return nil
	}
	return last.refusal
}

// Missed returns what is remembered of an attempt on the view that a plan is made of, nil if
// there was none, or it was no miss.
func (s *expectations) Missed(p *plan.Plan) *Missed {
	last, ok := s.last(p.Target.UID)
	if ok && last.planned == p.ResourceVersion {
		return last.missed
	}
	return nil
}

// Generation is what the last write gave a workload, 0 if none is remembered.
func (s *expectations) Generation(target types.UID) int64 {
	last, _ := s.last(target)
	return last.generation
}

func (s *expectations) last(target types.UID) (attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	known := s.all[target]
	if known == nil || known.attempt == nil {
		return attempt{}, false
	}
	return *known.attempt, true
}

// Wrote notes that a plan was carried out, and what the API server answered.
func (s *expectations) Wrote(p *plan.Plan, generation int64, version string) {
	s.put(p, attempt{generation: generation, version: version})
}

// Refused notes that a plan was refused, and would be again.
func (s *expectations) Refused(p *plan.Plan, err error) {
	s.put(p, attempt{refusal: err, at: s.now()})
}

// Miss notes that a workload was not as it was when an attempt on it was planned, and returns
// when to look at it. What was written before still counts for pacing.
func (s *expectations) Miss(p *plan.Plan) time.Duration {
	last, _ := s.last(p.Target.UID)
	last.refusal, last.missed = nil, last.missed.next(s.now())
	s.put(p, last)
	return last.missed.Wait
}

// Confirm notes that the view that a plan is made of is the current one, though an attempt
// on it has missed.
func (s *expectations) Confirm(p *plan.Plan) {
	last, _ := s.last(p.Target.UID)
	confirmed := *last.missed
	confirmed.IsCurrent, last.missed = true, &confirmed
	s.put(p, last)
}

func (s *expectations) put(p *plan.Plan, a attempt) {
	a.target, a.planned, a.seen, a.action, a.hash = p.Target, p.ResourceVersion, p.Seen, p.Action, p.InjectedHash()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect(p.Target.UID).attempt = &a
}

// expect returns what is expected of a workload, made if there is nothing yet.
func (s *expectations) expect(target types.UID) *expectation {
	if s.all[target] == nil {
		s.all[target] = &expectation{}
		s.writers.add(target, s.name)
	}
	return s.all[target]
}

// Besides are the workloads that were written to and are not among so many others, each of
// which is given once.
func (s *expectations) Besides(other func(n int) types.UID, count int) []workload.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []workload.Ref
	for _, target := range except(s.all, other, count) {
		if known := s.all[target]; known.attempt != nil && known.generation > 0 {
			found = append(found, known.target)
		}
	}
	return found
}

// KeepExpectations forgets what is expected of workloads that no plan is about any more, and
// which writes were undone in those that are not to carry the sidecar: what goes by a wish is
// no round of a loop, and whoever wishes it back wants a new try.
func (s *expectations) KeepExpectations(plans []plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, target := range except(s.all, func(n int) types.UID { return plans[n].Target.UID }, len(plans)) {
		delete(s.all, target)
		s.writers.remove(target, s.name)
	}
	if len(s.all) == 0 {
		return
	}
	for i := range plans {
		if p := &plans[i]; p.Action == plan.Remove || p.Reason == meta.ReasonOptedOut {
			if known := s.all[p.Target.UID]; known != nil {
				known.repairs = nil
			}
		}
	}
}

// isAwaited reports whether an attempt on a workload has missed.
func (s *expectations) isAwaited(target types.UID) bool {
	known := s.all[target]
	return known.attempt != nil && known.missed != nil
}

// except are the keys of a map that are not among so many others, each of which is
// given once. Most often there are none, and nothing has to be made to find that out.
func except[V any](of map[types.UID]V, other func(n int) types.UID, count int) []types.UID {
	if len(of) == 0 {
		return nil
	}
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
	var left []types.UID
	for key := range of {
		if !others[key] {
			left = append(left, key)
		}
	}
	return left
}
