// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"iter"
	"slices"
	"time"
)

// Rejection describes the last rejection of a write by the API server, by its admission or by its authorization.
type Rejection struct {
	// Err is the error that the API server returned.
	Err error
	// RejectedAt is the time of the rejection. RetryAt is the time of the next retry, or zero if the next free
	// rollout slot is used for a retry.
	RejectedAt, RetryAt time.Time
}

// block returns the block of a plan with a write that is not due for a retry yet.
func (r *Rejection) block() *Block { return &Block{Kind: BlockedByRejection, Until: r.RetryAt} }

// waitsForRetry reports whether the API server has rejected the plan's write, and its next retry is not due yet.
func (p *Plan) waitsForRetry() bool { return p.Rejection != nil && !p.Rejection.RetryAt.IsZero() }

// IsWithheld reports whether the operator does not send the plan's write now, because the API server has rejected the
// same write before.
func (p *Plan) IsWithheld() bool {
	return p.Rejection != nil && !p.IsWaiting() && (p.waitsForRetry() || p.IsBlockedBy(BlockedByRejection))
}

// queueBlock returns the block of a plan that waits for other workloads. If the API server has rejected the plan's
// write before, the block reports that rejection instead, because a user may have to act on it.
func (p *Plan) queueBlock(block *Block) *Block {
	if p.Rejection != nil {
		return p.Rejection.block()
	}
	return block
}

// bySlotOrder yields the plans in the order in which they get rollout slots: first the plans without a rejection, then
// the plans with rejected writes, and last the plans of workloads that failed before. The last two groups are sorted by
// the time of the last rejection, oldest first.
func bySlotOrder(plans []Plan) iter.Seq[*Plan] {
	return func(yield func(*Plan) bool) {
		var rejected, failed []*Plan
		for i := range plans {
			switch p := &plans[i]; {
			case p.Rollout.FailedBefore:
				failed = append(failed, p)
			case p.Rejection != nil:
				rejected = append(rejected, p)
			case !yield(p):
				return
			}
		}
		slices.SortStableFunc(rejected, compareRejections)
		slices.SortStableFunc(failed, compareRejections)
		for _, p := range slices.Concat(rejected, failed) {
			if !yield(p) {
				return
			}
		}
	}
}

// compareRejections compares plans by the time of the last rejection of their write. Plans without a rejection are first.
func compareRejections(a, b *Plan) int { return a.lastRejection().Compare(b.lastRejection()) }

// lastRejection returns the time when the plan's write was last rejected, or zero for never.
func (p *Plan) lastRejection() time.Time {
	if p.Rejection == nil {
		return time.Time{}
	}
	return p.Rejection.RejectedAt
}
