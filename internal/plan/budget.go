// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Limit contains the settings and the current conditions that limit the rollouts of one VectorSidecar.
type Limit struct {
	// Max is the maximum number of workloads with a rollout in progress, or 0 for no limit.
	Max int
	// Soak is the value of spec.rollout.soak, which only messages use. The plans already count a rollout as in progress
	// until its soak ends.
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
	// Unproven is the message for workloads that are not canaries and wait because no canary has run the sidecar yet.
	// It is "" if these workloads do not wait.
	Unproven string
	// ClosedWindow is the current time between two rollout windows, or nil if a window is open. While no window is
	// open, only two kinds of changes start: removals, and injections into workloads that were created after the last
	// window.
	ClosedWindow *ClosedWindow
}

// ClosedWindow is the time between two rollout windows.
type ClosedWindow struct {
	// ClosedAt is the time when the last window closed, or zero if no window has been open for a long time.
	ClosedAt time.Time
	// OpensAt is the time when the next window opens.
	OpensAt time.Time
}

// block returns the block of plans that wait for the next rollout window.
func (w *ClosedWindow) block() *Block {
	return &Block{
		Kind: BlockedByWindow, Reason: meta.ReasonOutsideWindow, Until: w.OpensAt,
		Message: "waiting for the rollout window that opens at " + w.OpensAt.Format(time.RFC3339) + " (rollout.windows)",
	}
}

// StopBlock returns the block of plans that wait because all writes of the installation are stopped. The message names
// the setting that stops them.
func StopBlock(message string) *Block {
	return &Block{Kind: BlockedByStop, Reason: meta.ReasonWritesStopped, Message: message}
}

// Admit decides which plans may start a rollout now, and returns the plans with a block for each of the others. It
// changes the given slice, as append does, so callers must use only the result. A plan waits while the maximum number
// of rollouts is in progress, or after a rollout has failed. While a canary rolls out, all plans except those of
// canaries wait.
//
// Admit processes the plans in their order. Plans with rejected writes follow, and use a rollout slot only while they
// are retried. Workloads that failed before are last, and get only the slots that no other workload waits for. Admit
// does not keep state between calls.
func Admit(plans []Plan, limit Limit) []Plan {
	counts := newTally(plans, &limit)
	for p := range bySlotOrder(plans) {
		if limit.WriteHold != nil {
			*p = p.withoutRecords()
		}
		if p.Block == nil && !p.StartsPods() { // A write that only records does not wait for other rollouts.
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

// IsCanaryInProgress reports whether the workload is a canary that has not finished the rollout of the desired sidecar.
// It returns false for a canary that cannot get the sidecar, so that this canary does not block other workloads.
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
