// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package controller

import (
	"context"
	"errors"
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"kontroloop.ai/vector-sidecar-operator/internal/apply"
	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/status"
)

// atOnce is a wait for the next pass; 0 would be none.
const atOnce = time.Millisecond

// errBehind says why a workload is left alone whose view is not the latest.
var errBehind = errors.New("the cache does not show yet what was written last")

// missed is what is remembered of a workload that was not as an attempt on it was
// planned from. Nothing is tried again on that view before it changes, or a look at
// the live workload has shown what is true.
type missed struct {
	// look is when to look, and wait how long that was from the attempt or from
	// the look before.
	look time.Time
	wait time.Duration
	// isCurrent reports whether a look has shown the very version planned from, so
	// that something else has refused the attempt.
	isCurrent bool
}

// next is the look after this one, later each time.
func (m *missed) next(now time.Time) *missed {
	wait := firstRetry
	if m != nil {
		wait = min(2*m.wait, lastRetry)
	}
	return &missed{look: now.Add(wait), wait: wait}
}

// miss notes that a workload was not as it was when an attempt on it was planned, and
// returns when to look at it.
func (l *ledger) miss(owner types.NamespacedName, p *plan.Plan) time.Duration {
	last, _ := l.last(owner, p)
	// What was written before still counts for pacing.
	last.refusal, last.missed = nil, last.missed.next(l.now())
	l.put(owner, p, last)
	return last.missed.wait
}

// missedBy returns what is remembered of an attempt on the view that a plan is made of,
// nil if there was none, or it was no miss.
func (l *ledger) missedBy(owner types.NamespacedName, p *plan.Plan) *missed {
	last, ok := l.last(owner, p)
	if ok && last.planned == p.ResourceVersion {
		return last.missed
	}
	return nil
}

// confirm notes that the view that a plan is made of is the current one.
func (l *ledger) confirm(owner types.NamespacedName, p *plan.Plan) {
	last, _ := l.last(owner, p)
	confirmed := *last.missed
	confirmed.isCurrent, last.missed = true, &confirmed
	l.put(owner, p, last)
}

// awaits reports whether any change of a workload matters to somebody, whatever it is.
func (l *ledger) awaits(target types.UID) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for owner := range l.owners[target] {
		if l.entries[owner][target].missed != nil {
			return true
		}
	}
	return false
}

// mayWrite reports whether a plan is made of a view that is not known to be old. It
// looks at the workload where an attempt has missed it and the view stays the same.
func (r *Reconciler) mayWrite(ctx context.Context, owner types.NamespacedName, p *plan.Plan, result *outcome) bool {
	missed := r.ledger.missedBy(owner, p)
	if missed == nil {
		isPending := r.ledger.pending(owner, p)
		if isPending {
			tellUndone(ctx, status.Object(p.Target), errBehind)
		}
		return !isPending
	}
	if left := missed.look.Sub(r.ledger.now()); left > 0 {
		tellUndone(ctx, status.Object(p.Target), errBehind)
		result.miss(left)
		return false
	}
	live := &appsv1.Deployment{}
	err := r.live.Get(ctx, types.NamespacedName{Namespace: p.Target.Namespace, Name: p.Target.Name}, live)
	switch {
	case client.IgnoreNotFound(err) != nil:
		result.fail(status.Object(p.Target), meta.ReasonRetrying, fmt.Errorf("looking at what has changed: %w", err), false)
		return false
	case err != nil || live.UID != p.Target.UID:
		result.miss(r.ledger.miss(owner, p)) // An event is to come that ends it.
		return false
	case live.ResourceVersion != p.ResourceVersion:
		wait := r.ledger.miss(owner, p)
		if r.fleet.Overtake(live, r.ledger.now()) {
			wait = atOnce // The next pass plans from what is there.
		}
		result.miss(wait)
		return false
	}
	r.ledger.confirm(owner, p)
	return true
}

// isAhead reports whether a write was refused because another VectorSidecar has written
// since the workload was looked at: that is no conflict, its turn was before.
func (r *Reconciler) isAhead(owner types.NamespacedName, p *plan.Plan, err error) bool {
	var conflict *apply.ConflictError
	missed := r.ledger.missedBy(owner, p)
	return errors.As(err, &conflict) && conflict.Siblings && (missed == nil || !missed.isCurrent)
}
