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
	missed := &Missed{}
	if m != nil {
		missed.Wait = m.Wait
		if m.IsCurrent && answer != nil {
			missed.answer, missed.inVain = answer, m.inVain+1
		}
	}
	missed.Wait = NextWait(missed.Wait, FirstRetry, LastRetry)
	missed.Look = now.Add(missed.Wait)
	return missed
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
	lastAttempt, ok := s.last(p.Target.UID)
	isBehind := lastAttempt.planned == p.ResourceVersion || p.Generation < lastAttempt.generation || workloadcache.IsOlder(p.ResourceVersion, lastAttempt.version)
	return ok && lastAttempt.denial == nil && isBehind
}

// Denials returns the last attempts on workloads that were refused, nil if there are none.
func (s *expectations) Denials() map[types.UID]decision.Denial {
	s.mu.Lock()
	defer s.mu.Unlock()
	var denials map[types.UID]decision.Denial
	for target, expectation := range s.all {
		if expectation.attempt == nil || expectation.denial == nil {
			continue
		}
		if denials == nil {
			denials = map[types.UID]decision.Denial{}
		}
		denials[target] = decision.Denial{Denial: *expectation.denial, Seen: expectation.seen, Action: expectation.action, Hash: expectation.hash}
	}
	return denials
}

// Missed returns the record of an attempt that missed the view that a plan is made of, nil if there
// is none.
func (s *expectations) Missed(p *plan.Plan) *Missed {
	lastAttempt, ok := s.last(p.Target.UID)
	if ok && lastAttempt.planned == p.ResourceVersion {
		return lastAttempt.missed
	}
	return nil
}

// Generation returns the generation after the last write to a workload, 0 if unknown.
func (s *expectations) Generation(target types.UID) int64 {
	lastAttempt, _ := s.last(target)
	return lastAttempt.generation
}

func (s *expectations) last(target types.UID) (attempt, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	expectation := s.all[target]
	if expectation == nil || expectation.attempt == nil {
		return attempt{}, false
	}
	return *expectation.attempt, true
}

// Wrote records that a plan was carried out, and the API server's answer.
func (s *expectations) Wrote(p *plan.Plan, generation int64, version string) {
	if p.Action == plan.Defer { // It has begun nothing.
		lastAttempt, _ := s.last(p.Target.UID)
		generation = lastAttempt.generation
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
func (s *expectations) Carried(target types.UID) (lastWriter string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if expectation := s.all[target]; expectation != nil && expectation.carried != nil {
		return expectation.carried.lastWriter, true
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
	lastAttempt, _ := s.last(p.Target.UID)
	lastAttempt.denial, lastAttempt.missed = denial, nil
	s.put(p, lastAttempt)
}

// Miss records that a workload had changed since an attempt on it was planned, and returns how long
// to wait before the live workload is read. What was written before still counts for pacing. answer is the API
// server's to the attempt, nil if a read says so.
func (s *expectations) Miss(p *plan.Plan, answer error) time.Duration {
	lastAttempt, _ := s.last(p.Target.UID)
	lastAttempt.denial, lastAttempt.missed = nil, lastAttempt.missed.next(s.now(), answer)
	s.put(p, lastAttempt)
	return lastAttempt.missed.Wait
}

// Confirm records that a plan's view is current although an attempt on it has missed.
func (s *expectations) Confirm(p *plan.Plan) {
	lastAttempt, _ := s.last(p.Target.UID)
	confirmed := *lastAttempt.missed
	confirmed.IsCurrent, lastAttempt.missed = true, &confirmed
	s.put(p, lastAttempt)
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
func (s *expectations) Besides(excludedUID func(n int) types.UID, count int) []workload.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	var targets []workload.Ref
	for _, target := range except(s.all, excludedUID, count) {
		if expectation := s.all[target]; expectation.attempt != nil && expectation.generation > 0 {
			targets = append(targets, expectation.target)
		}
	}
	return targets
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
			if expectation := s.all[p.Target.UID]; expectation != nil {
				expectation.repairs, expectation.carried = nil, nil
			}
		case p.Owner != nil && p.Desired != nil && p.HasSidecar && p.IsCurrent() && p.Action != plan.Adopt:
			s.expect(p.Target.UID).carried = &carried{p.LastWriter}
		}
	}
}

// Forgive drops, once for each thing that is asked for, what keeps writes from being tried again: that
// they were refused, or undone, by an owner or again and again.
func (s *expectations) Forgive(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgiven == request {
		return
	}
	s.forgiven = request
	for _, expectation := range s.all {
		if expectation.repairs, expectation.carried = nil, nil; expectation.attempt != nil && expectation.denial != nil {
			expectation.attempt = &attempt{target: expectation.target, generation: expectation.generation, version: expectation.version}
		}
	}
}

// isAwaited reports whether an attempt on a workload has missed.
func (s *expectations) isAwaited(target types.UID) bool {
	expectation := s.all[target]
	return expectation.attempt != nil && expectation.missed != nil
}

// except returns the keys of a map that are not among the count keys of other, which are distinct.
// Usually there are none, and finding that out allocates nothing.
func except[V any](entries map[types.UID]V, excludedUID func(n int) types.UID, count int) []types.UID {
	if len(entries) == 0 {
		return nil
	}
	overlap := 0
	for n := range count {
		if _, ok := entries[excludedUID(n)]; ok {
			overlap++
		}
	}
	if overlap == len(entries) {
		return nil
	}
	excluded := make(map[types.UID]bool, count)
	for n := range count {
		excluded[excludedUID(n)] = true
	}
	var remaining []types.UID
	for key := range entries {
		if !excluded[key] {
			remaining = append(remaining, key)
		}
	}
	return remaining
}
