// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// expectations are those for the workloads of a VectorSidecar, by UID.
type expectations struct {
	*shared

	name types.NamespacedName
	all  map[types.UID]*expectation
	// forgiven is what Forgive was asked with last.
	forgiven string
}

// expectation is what is expected of one workload: that the cache will show the last write, that
// the same attempt may be refused again, or that the workload changed before the attempt reached
// it. It prevents duplicate writes while the cache lags behind our own, and retries that cannot
// succeed. It also holds the repairs of the workload.
type expectation struct {
	*attempt
	*repairs
	// carried is nil if the workload is not known to have carried the sidecar, or nobody else owns it.
	carried *carried
}

// carried is what is known of a workload with the sidecar that another operator owns.
type carried struct{ lastWriter string }

// repairs counts writes of one sidecar to one workload. If they do not last, repairing is paused.
// After a pause, one more try shows whether the other writer has stopped.
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
	// planned is the resource version that the attempt was planned from, seen the first one that
	// looked the same.
	planned, seen string
	action        plan.Action
	hash          string
	// generation and version are from the API server's answer to a write.
	generation int64
	version    string
	// denial is its answer if it refused the attempt, else nil.
	denial *plan.Denial
	// missed is set when the workload had changed before the attempt reached it.
	missed *Missed
}

// Missed records that a workload had changed since the view that an attempt was planned from.
// Nothing is retried on that view until it changes or the live workload was read.
type Missed struct {
	// Look is when to read the live workload, Wait how long that is after the attempt or the read
	// before.
	Look time.Time
	Wait time.Duration
	// IsCurrent is true if the live workload has the version planned from, so that something else
	// refused the attempt.
	IsCurrent bool

	// answer is the API server's to the last attempt on a view that was known to be current, and inVain
	// how many there were.
	answer error
	inVain int
}

// mostInVain is how often an attempt may fail as if the workload had changed although it had not: once, because it
// may have changed since it was read.
const mostInVain = 1

// next returns the next read, with a longer wait each time. answer is the API server's to the attempt, nil
// if there was none.
func (m *Missed) next(now time.Time, answer error) *Missed {
	next := &Missed{}
	if m != nil {
		next.Wait = m.Wait
		if m.IsCurrent && answer != nil {
			next.answer, next.inVain = answer, m.inVain+1
		}
	}
	next.Wait = NextWait(next.Wait, FirstRetry, LastRetry)
	next.Look = now.Add(next.Wait)
	return next
}

// Unexplained returns what the API server answers again and again as if the workload had changed, which it has
// not: an admission webhook may answer so. It is nil if there is no such answer.
func (m *Missed) Unexplained() error {
	if m == nil || m.inVain <= mostInVain {
		return nil
	}
	return m.answer
}

// IsPending reports whether the cache is still behind the last write to a plan's target. Others may
// write to the workload's status between two of our requests, so it is not enough to compare the
// versions of our own writes.
func (s *expectations) IsPending(p *plan.Plan) bool {
	last, ok := s.last(p.Target.UID)
	isBehind := last.planned == p.ResourceVersion || p.Generation < last.generation || workloadcache.IsOlder(p.ResourceVersion, last.version)
	return ok && last.denial == nil && isBehind
}

// Denials returns the last attempts on workloads that were refused, nil if there are none.
func (s *expectations) Denials() map[types.UID]decision.Denial {
	s.mu.Lock()
	defer s.mu.Unlock()
	var denials map[types.UID]decision.Denial
	for target, known := range s.all {
		if known.attempt == nil || known.denial == nil {
			continue
		}
		if denials == nil {
			denials = map[types.UID]decision.Denial{}
		}
		denials[target] = decision.Denial{Denial: *known.denial, Seen: known.seen, Action: known.action, Hash: known.hash}
	}
	return denials
}

// Missed returns the record of an attempt that missed the view that a plan is made of, nil if there
// is none.
func (s *expectations) Missed(p *plan.Plan) *Missed {
	last, ok := s.last(p.Target.UID)
	if ok && last.planned == p.ResourceVersion {
		return last.missed
	}
	return nil
}

// Generation returns the generation after the last write to a workload, 0 if unknown.
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

// Wrote records that a plan was carried out, and the API server's answer.
func (s *expectations) Wrote(p *plan.Plan, generation int64, version string) {
	if p.Action == plan.Defer { // It has begun nothing.
		last, _ := s.last(p.Target.UID)
		generation = last.generation
	}
	s.put(p, attempt{generation: generation, version: version})
	if p.Owner != nil && (p.StartsPods() || p.Action == plan.Adopt) && p.Action != plan.Remove {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.expect(p.Target.UID).carried = &carried{p.LastWriter}
	}
}

// Carried returns whether a workload that another operator owns has carried the sidecar, as far as
// this process knows, and its last writer by then.
func (s *expectations) Carried(target types.UID) (lastWriter string, has bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.all[target]; known != nil && known.carried != nil {
		return known.carried.lastWriter, true
	}
	return "", false
}

// Refused records that a plan was refused, and would be again if isPermanent: then it is not tried for a while,
// because the reason may be gone later. What was written before still counts for pacing.
func (s *expectations) Refused(p *plan.Plan, err error, isPermanent bool) {
	denial := &plan.Denial{Err: err, RejectedAt: s.now()}
	if isPermanent {
		denial.RetryAt = denial.RejectedAt.Add(LastRetry)
	}
	last, _ := s.last(p.Target.UID)
	last.denial, last.missed = denial, nil
	s.put(p, last)
}

// Miss records that a workload had changed since an attempt on it was planned, and returns how long
// to wait before the live workload is read. What was written before still counts for pacing. answer is the API
// server's to the attempt, nil if a read says so.
func (s *expectations) Miss(p *plan.Plan, answer error) time.Duration {
	last, _ := s.last(p.Target.UID)
	last.denial, last.missed = nil, last.missed.next(s.now(), answer)
	s.put(p, last)
	return last.missed.Wait
}

// Confirm records that a plan's view is current although an attempt on it has missed.
func (s *expectations) Confirm(p *plan.Plan) {
	last, _ := s.last(p.Target.UID)
	confirmed := *last.missed
	confirmed.IsCurrent, last.missed = true, &confirmed
	s.put(p, last)
}

func (s *expectations) put(p *plan.Plan, a attempt) {
	a.target, a.planned, a.seen, a.action, a.hash = p.Target, p.ResourceVersion, p.EquivalentVersion, p.Action, p.InjectedHash()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.expect(p.Target.UID).attempt = &a
}

// expect returns the expectation of a workload, and creates it if necessary.
func (s *expectations) expect(target types.UID) *expectation {
	if s.all[target] == nil {
		s.all[target] = &expectation{}
		s.writers.add(target, s.name)
	}
	return s.all[target]
}

// Besides returns the workloads that were written to and are not among the count workloads of
// other, which are distinct.
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

// KeepExpectations drops the expectations of workloads that no plan is about any more, and the
// repairs of those that are not to carry the sidecar: a removal that was asked for is no round of a
// repair loop, and adding the sidecar again deserves a fresh try.
func (s *expectations) KeepExpectations(plans []plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, target := range except(s.all, func(n int) types.UID { return plans[n].Target.UID }, len(plans)) {
		delete(s.all, target)
		s.writers.remove(target, s.name)
	}
	for i := range plans {
		switch p := &plans[i]; {
		case p.Action == plan.Remove, p.Reason == meta.ReasonOptedOut:
			if known := s.all[p.Target.UID]; known != nil {
				known.repairs, known.carried = nil, nil
			}
		case p.Owner != nil && p.Desired != nil && p.HasSidecar && p.IsCurrent() && p.Action != plan.Adopt:
			s.expect(p.Target.UID).carried = &carried{p.LastWriter}
		}
	}
}

// Forgive drops, once for each thing that is asked for, what keeps writes from being tried again: that
// they were refused, or undone, by an owner or again and again.
func (s *expectations) Forgive(asked string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgiven == asked {
		return
	}
	s.forgiven = asked
	for _, known := range s.all {
		if known.repairs, known.carried = nil, nil; known.attempt != nil && known.denial != nil {
			known.attempt = &attempt{target: known.target, generation: known.generation, version: known.version}
		}
	}
}

// isAwaited reports whether an attempt on a workload has missed.
func (s *expectations) isAwaited(target types.UID) bool {
	known := s.all[target]
	return known.attempt != nil && known.missed != nil
}

// except returns the keys of a map that are not among the count keys of other, which are distinct.
// Usually there are none, and finding that out allocates nothing.
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
