// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"
	"time"
)

// Denial describes the last rejection of a write by the API server, its admission or its authorization.
type Denial struct {
	// Err is the error of the rejection.
	Err error
	// RejectedAt is the time of the rejection. Until is the time of the next retry, or zero to retry with the next free
	// slot.
	RejectedAt, RetryAt time.Time
}

// Deny records that the same write was rejected. The write is not retried before Denial.Until.
func (p *Plan) Deny(denial *Denial, now time.Time) {
	p.Denied, p.Withheld = denial, now.Before(denial.RetryAt)
}

// queue makes the action wait for other workloads. A plan with a rejected write keeps the message of the
// rejection.
func (p *Plan) queue(reason, message string) {
	if p.Denied != nil {
		p.Withheld = true
		return
	}
	p.Wait(reason, message)
}

// inTurn yields plans in the order in which they get rollout slots. Plans with rejected writes follow the other
// plans, sorted by the time of the last attempt, oldest first. Plans of workloads that failed before are last.
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

// byTrial orders plans by the time of their last rejected write. Plans without a rejected write are first.
func byTrial(a, b *Plan) int { return a.lastTrial().Compare(b.lastTrial()) }

// lastTrial returns the time of the last rejected write of the plan, or the zero time for never.
func (p *Plan) lastTrial() time.Time {
	if p.Denied == nil {
		return time.Time{}
	}
	return p.Denied.RejectedAt
}
