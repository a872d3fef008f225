// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Limit contains the limits for the rollouts of one VectorSidecar.
type Limit struct {
	// Max is the maximum number of workloads with a rollout in progress, or 0 for no limit.
	Max int
	// Soak is the time for which a finished rollout still counts as in progress. It is used only in messages,
	// because the plans already contain which rollouts are in progress.
	Soak time.Duration
	// Paused reports whether rollouts must not start.
	Paused bool
	// WriteHold explains why all writes except removals are on hold, or is nil if they are allowed.
	WriteHold *Block
	// Error explains an error of the VectorSidecar that prevents injections and updates, or is nil for none.
	Error *Block
	// MaxAgeHold explains why rollouts that have waited for spec.rollout.maxAge must not start, or is nil if
	// they may start.
	MaxAgeHold *Block
	// Retried is the time when a user last ran the command rollout retry, or zero if no user did. A rollout
	// that failed before that time does not block others.
	Retried time.Time
	// Unproven explains why workloads that are not canaries wait while no canary has evidence. It is "" if they
	// do not wait.
	Unproven string
	// ClosedWindow is the current time between two windows, or nil in a window. In that time, only removals
	// start, and injections into workloads that were created in that time.
	ClosedWindow *ClosedWindow
}

// ClosedWindow is the time between two rollout windows.
type ClosedWindow struct {
	// ClosedAt is the time when the last window closed, or zero if no window has been open for a long time.
	ClosedAt time.Time
	// OpensAt is the time when the next window opens.
	OpensAt time.Time
}

// block returns the block of plans that wait for the next window.
func (w *ClosedWindow) block() *Block {
	return &Block{
		Kind: BlockedByWindow, Reason: meta.ReasonOutsideWindow, Until: w.OpensAt,
		Message: "waiting for the rollout window that opens at " + w.OpensAt.Format(time.RFC3339) + " (rollout.windows)",
	}
}

// StopBlock returns the block of plans while all writes of the installation are stopped. The message names the setting.
func StopBlock(message string) *Block {
	return &Block{Kind: BlockedByStop, Reason: meta.ReasonWritesStopped, Message: message}
}

// Admit returns the plans with the blocks of those that must wait. It uses the memory of its argument, as append does, so
// the caller uses only the result. A plan waits if the maximum number of rollouts is in progress, or after a rollout has
// failed. A plan that is not for a canary also waits while a canary rolls out.
//
// Admit processes the plans in their order, followed by the plans with rejected writes. A rejected write uses a
// rollout slot only while it is retried. Workloads that failed before are last, and use only slots that no
// other workload waits for. Admit does not keep state.
func Admit(plans []Plan, limit Limit) []Plan {
	counts := newTally(plans, &limit)
	for p := range bySlotOrder(plans) {
		if limit.WriteHold != nil {
			*p = p.withoutRecords()
		}
		if p.Block == nil && !p.StartsPods() { // Records wait for no other rollout.
			*p = p.WithBlock(blockByRejection(p, &limit, counts))
		}
		if p.IsWaiting() || !p.StartsPods() {
			continue
		}
		block := findRolloutBlock(rolloutGates, p, &limit, counts)
		switch {
		case block == nil:
			counts.start(p)
			block = findRolloutBlock(errorGates, p, &limit, counts)
		case block.Kind.EndsByItself():
			block = p.queueBlock(block)
			counts.isQueued = counts.isQueued || !p.Rollout.FailedBefore
		}
		*p = p.WithBlock(block)
	}
	return plans
}

// IsCanaryInProgress reports whether the workload is a canary that has not finished the rollout of the desired
// sidecar. A canary that cannot get the sidecar does not block other workloads.
func (p *Plan) IsCanaryInProgress() bool {
	return p.IsCanary && p.Desired != nil && (p.HasChange(Inject, Update) || p.Rollout.InFlight)
}

// waitMessage returns the message for a plan that waits for a rollout slot.
func (l *Limit) waitMessage() string {
	text := fmt.Sprintf("waiting for a rollout slot: at most %d rollouts at once (spec.rollout.maxConcurrent)", l.Max)
	if l.Soak > 0 {
		text += fmt.Sprintf(", each until its pods have been available for %s (spec.rollout.soak)", l.Soak)
	}
	return text
}
