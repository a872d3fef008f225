// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/internal/decision"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
	"kontroloop.ai/vector-sidecar-operator/internal/workloadcache"
)

// pendingWrite is the result of the last attempt to write a workload. Either the cache will show the write, or the API
// server rejected it and may reject it again, or the workload had changed before. Pending writes prevent duplicate writes
// while the cache lags behind the operator's writes, and retries that cannot succeed.
type pendingWrite struct {
	// attempt is nil before the first attempt.
	attempt *attempt
	// corrections is nil if no sidecar was written.
	corrections *corrections
	// owned is nil if the workload has no controller owner or is not known to have had the sidecar.
	owned *ownedWorkload
}

// ownedWorkload records that a workload with a controller owner had the sidecar, and the workload's last writer at that
// time.
type ownedWorkload struct{ lastWriter string }

// attempt is the last attempt to write a workload.
type attempt struct {
	target workload.Ref
	// planned is the resource version from which the write was planned. seen is the first resource version that is
	// equivalent to it.
	planned, seen string
	change        plan.Change
	isDeferred    bool
	hash          string
	// generation and version are from the API server's answer to a write.
	generation int64
	version    string
	// rejection is the API server's rejection of the attempt, nil if the attempt was not rejected.
	rejection *plan.Rejection
	// missed is not nil if the workload had changed before the write reached it.
	missed *StaleWrite
}

// StaleWrite records that a workload changed after the attempt was planned. The attempt is not repeated with the same
// planned version until the cache changes or the live workload was read.
type StaleWrite struct {
	// ReadTime is the time when the live workload must be read.
	ReadTime time.Time
	// IsCurrent is true if the live workload has the planned version, so the attempt was rejected for another reason.
	IsCurrent bool

	// answer is the API server's response to the last write that was planned from the live version. inVain is the
	// number of such writes that failed.
	answer error
	inVain int
}

// mostInVain is the tolerated number of conflicts with the live version. It is 1 because the workload may have
// changed after it was read.
const mostInVain = 1

// UnexplainedConflict returns the API server's response if it is a repeated conflict although the workload has not
// changed, otherwise nil. An admission webhook may cause such responses.
func (m StaleWrite) UnexplainedConflict() error {
	if m.inVain <= mostInVain {
		return nil
	}
	return m.answer
}

// IsPending reports whether the cache does not show the last write to the workload of a plan yet. A comparison with
// only the version of that write is not enough, because other clients may write the workload's status between two
// writes.
func (s *Sidecar) IsPending(p *plan.Plan) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	lastAttempt, ok := s.lastAttempt(p.Target.UID)
	isBehind := lastAttempt.planned == p.Workload.ResourceVersion || p.Workload.Generation < lastAttempt.generation || workloadcache.IsOlder(p.Workload.ResourceVersion, lastAttempt.version)
	return ok && lastAttempt.rejection == nil && isBehind
}

// RejectedWrites returns the last attempts that the API server rejected, by workload. It returns nil if no attempt was
// rejected.
func (s *Sidecar) RejectedWrites() map[types.UID]decision.RejectedWrite {
	s.mu.Lock()
	defer s.mu.Unlock()
	var rejectedWrites map[types.UID]decision.RejectedWrite
	for target, pending := range s.writes {
		if pending.attempt == nil || pending.attempt.rejection == nil {
			continue
		}
		if rejectedWrites == nil {
			rejectedWrites = map[types.UID]decision.RejectedWrite{}
		}
		rejectedWrites[target] = decision.RejectedWrite{Rejection: *pending.attempt.rejection, Seen: pending.attempt.seen, Change: pending.attempt.change, IsDeferred: pending.attempt.isDeferred, Hash: pending.attempt.hash}
	}
	return rejectedWrites
}

// StaleWrite returns the record of a write that missed the version of the workload in a plan, and false if there is
// none.
func (s *Sidecar) StaleWrite(p *plan.Plan) (StaleWrite, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lastAttempt, ok := s.lastAttempt(p.Target.UID)
	if ok && lastAttempt.planned == p.Workload.ResourceVersion && lastAttempt.missed != nil {
		return *lastAttempt.missed, true
	}
	return StaleWrite{}, false
}

// Generation returns the generation of a workload after the last write to it, or 0 if the generation is unknown.
func (s *Sidecar) Generation(target types.UID) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	lastAttempt, _ := s.lastAttempt(target)
	return lastAttempt.generation
}

// lastAttempt returns the last attempt to write a workload, and false if there is none. The caller holds the mutex.
func (s *Sidecar) lastAttempt(target types.UID) (attempt, bool) {
	pending := s.writes[target]
	if pending == nil || pending.attempt == nil {
		return attempt{}, false
	}
	return *pending.attempt, true
}

// RecordWrite records that a plan was written, with the generation and the resource version of the API server's response.
func (s *Sidecar) RecordWrite(p *plan.Plan, generation int64, version string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if p.IsDeferred() { // A deferred plan starts no rollout.
		lastAttempt, _ := s.lastAttempt(p.Target.UID)
		generation = lastAttempt.generation
	}
	s.setAttempt(p, attempt{generation: generation, version: version})
	if p.Owner != nil && (p.StartsPods() || p.HasChange(plan.Adopt)) && p.Change != plan.Remove {
		s.pendingWrite(p.Target.UID).owned = &ownedWorkload{p.LastWriter}
	}
}

// OwnedWorkloadWriter returns the client that had written a workload with a controller owner last, when this process
// last injected or observed the sidecar. It returns false if this process has done neither.
func (s *Sidecar) OwnedWorkloadWriter(target types.UID) (lastWriter string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if pending := s.writes[target]; pending != nil && pending.owned != nil {
		return pending.owned.lastWriter, true
	}
	return "", false
}

// RecordRejection records that the API server rejected the write of a plan. A permanent rejection is retried after
// LastRetry, because the reason may disappear. Earlier writes still count for pacing.
func (s *Sidecar) RecordRejection(p *plan.Plan, err error, isPermanent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	rejection := &plan.Rejection{Err: err, RejectedAt: s.memory.now()}
	if isPermanent {
		rejection.RetryAt = rejection.RejectedAt.Add(LastRetry)
	}
	lastAttempt, _ := s.lastAttempt(p.Target.UID)
	lastAttempt.rejection, lastAttempt.missed = rejection, nil
	s.setAttempt(p, lastAttempt)
}

// RecordMiss records that a workload changed after its write was planned. It returns the wait before the live
// workload must be read. Earlier writes still count for pacing. answer is the API server's response to the write, or
// nil if a read showed the change.
func (s *Sidecar) RecordMiss(p *plan.Plan, answer error) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	lastAttempt, _ := s.lastAttempt(p.Target.UID)
	wait := s.memory.Backoff.Next(retryStaleWrite, s.attemptKey(p.Target.UID))
	missed := &StaleWrite{ReadTime: s.memory.now().Add(wait)}
	if previous := lastAttempt.missed; previous != nil && previous.IsCurrent && answer != nil {
		missed.answer, missed.inVain = answer, previous.inVain+1
	}
	lastAttempt.rejection, lastAttempt.missed = nil, missed
	s.setAttempt(p, lastAttempt)
	return wait
}

// ConfirmVersion records that the live workload has the resource version in a plan, although an earlier write missed
// it.
func (s *Sidecar) ConfirmVersion(p *plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	lastAttempt, _ := s.lastAttempt(p.Target.UID)
	confirmed := *lastAttempt.missed
	confirmed.IsCurrent, lastAttempt.missed = true, &confirmed
	s.setAttempt(p, lastAttempt)
}

// setAttempt replaces the last attempt to write the workload of a plan. The caller holds the lock.
func (s *Sidecar) setAttempt(p *plan.Plan, a attempt) {
	a.target, a.planned, a.seen, a.change, a.isDeferred, a.hash = p.Target, p.Workload.ResourceVersion, p.Workload.EquivalentVersion, p.Change, p.IsDeferred(), p.InjectedHash()
	s.pendingWrite(p.Target.UID).attempt = &a
	if a.missed == nil {
		s.memory.Backoff.Reset(retryStaleWrite, s.attemptKey(p.Target.UID))
	}
}

// attemptKey returns the key of a workload in Memory.Backoff.
func (s *Sidecar) attemptKey(target types.UID) string { return s.name.String() + "/" + string(target) }

// dropWrite drops the pending write of a workload and its backoffs. The caller holds the mutex.
func (s *Sidecar) dropWrite(target types.UID) {
	s.resetRejection(target, s.writes[target])
	delete(s.writes, target)
	s.memory.Backoff.Reset(retryStaleWrite, s.attemptKey(target))
	s.memory.removeWriter(target, s.name)
}

// resetRejection drops the corrections of a workload, and the record that the workload had the sidecar under a
// controller owner. The caller holds the mutex.
func (s *Sidecar) resetRejection(target types.UID, pending *pendingWrite) {
	pending.corrections, pending.owned = nil, nil
	s.memory.Backoff.Reset(retryCorrection, s.attemptKey(target))
}

// pendingWrite returns the pending write of a workload, and creates it if necessary. The caller holds the lock.
func (s *Sidecar) pendingWrite(target types.UID) *pendingWrite {
	if s.writes[target] == nil {
		s.writes[target] = &pendingWrite{}
		s.memory.addWriter(target, s.name)
	}
	return s.writes[target]
}

// WrittenWorkloads returns the workloads that were written, except the excluded ones. The excluded UIDs are
// excludedUID(0) to excludedUID(count-1), which are distinct.
func (s *Sidecar) WrittenWorkloads(excludedUID func(n int) types.UID, count int) []workload.Ref {
	s.mu.Lock()
	defer s.mu.Unlock()
	var targets []workload.Ref
	for _, target := range keysExcept(s.writes, excludedUID, count) {
		if pending := s.writes[target]; pending.attempt != nil && pending.attempt.generation > 0 {
			targets = append(targets, pending.attempt.target)
		}
	}
	return targets
}

// KeepExpectations drops the records of writes to workloads without a plan. It also drops the corrections of
// workloads that must not have the sidecar. A requested removal is not part of a correction loop, so a later
// injection starts a new count.
func (s *Sidecar) KeepExpectations(plans []plan.Plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, target := range keysExcept(s.writes, func(n int) types.UID { return plans[n].Target.UID }, len(plans)) {
		s.dropWrite(target)
	}
	for i := range plans {
		switch p := &plans[i]; {
		case p.HasChange(plan.Remove), p.IsBlockedBy(plan.BlockedByOptOut):
			if pending := s.writes[p.Target.UID]; pending != nil {
				s.resetRejection(p.Target.UID, pending)
			}
		case p.Owner != nil && p.Desired != nil && p.Existing.HasSidecar && p.IsCurrent() && p.Change != plan.Adopt:
			s.pendingWrite(p.Target.UID).owned = &ownedWorkload{p.LastWriter}
		}
	}
}

// ResetRejections allows retries of blocked writes, once for each request of a user. It drops rejections by the API
// server, removals by controller owners, and correction loops.
func (s *Sidecar) ResetRejections(request string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.forgiven == request {
		return
	}
	s.forgiven = request
	for target, pending := range s.writes {
		if s.resetRejection(target, pending); pending.attempt != nil && pending.attempt.rejection != nil {
			pending.attempt = &attempt{target: pending.attempt.target, generation: pending.attempt.generation, version: pending.attempt.version}
		}
	}
}

// isWriteAwaited reports whether the last write of a workload missed it, so that the next change of the workload is
// awaited.
func (s *Sidecar) isWriteAwaited(target types.UID) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	pending := s.writes[target]
	return pending != nil && pending.attempt != nil && pending.attempt.missed != nil
}

// keysExcept returns the keys of the map, except the excluded ones. The excluded UIDs are excludedUID(0) to
// excludedUID(count-1), which are distinct. If all keys are excluded, which is usual, the function allocates nothing.
func keysExcept[V any](entries map[types.UID]V, excludedUID func(n int) types.UID, count int) []types.UID {
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
