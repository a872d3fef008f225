// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"
	"time"
)

// Denial is how the API server, or whom it asks, refused a write when it was last tried.
type Denial struct {
	// Err is its answer.
	Err error
	// At is when it came, Until when the same write is tried again; zero for as soon as it is its turn.
	At, Until time.Time
}

// Deny records that the same write was refused. It is not tried before denial.Until.
func (p *Plan) Deny(denial *Denial, now time.Time) {
	p.Denied, p.Withheld = denial, now.Before(denial.Until)
}

// queue makes the action wait for other workloads. One whose write was refused goes on saying that, and why.
func (p *Plan) queue(reason, message string) {
	if p.Denied != nil {
		p.Withheld = true
		return
	}
	p.Wait(reason, message)
}

// inTurn yields plans in the order in which they get places: what failed before comes last, and before that
// what was refused; of what was refused, what was tried longest ago comes first.
func inTurn(plans []Plan) iter.Seq[*Plan] {
	return func(yield func(*Plan) bool) {
		var denied, failed []*Plan
		for i := range plans {
			switch p := &plans[i]; {
			case p.FailedBefore:
				failed = append(failed, p)
			case p.Denied != nil:
				denied = append(denied, p)
			case !yield(p):
				return
			}
		}
		slices.SortStableFunc(denied, byTrial)
		slices.SortStableFunc(failed, byTrial)
		for _, p := range slices.Concat(denied, failed) {
			if !yield(p) {
				return
			}
		}
	}
}

// byTrial orders plans by when their write was last refused, those first of which none was.
func byTrial(a, b *Plan) int { return a.lastTrial().Compare(b.lastTrial()) }

// lastTrial returns when the write of the plan was last refused, the zero time for never.
func (p *Plan) lastTrial() time.Time {
	if p.Denied == nil {
		return time.Time{}
	}
	return p.Denied.At
}
