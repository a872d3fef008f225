// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Limit is how much may go on at once.
type Limit struct {
	// Max is the number of workloads whose rollout was started and has not
	// finished; 0 for no limit.
	Max int
	// Soak is for how long after a rollout its place stays taken, for the message
	// alone: what is in flight is the plans' to say.
	Soak time.Duration
	// Paused lets nothing new begin.
	Paused bool
}

// Admit marks the plans that have to wait, with the reason: never more rollouts go on
// at once than allowed, and none begins while one of them has failed. The order of the
// plans is the order in which they are let go. It remembers nothing.
func Admit(plans []Plan, limit Limit) {
	inFlight := 0
	var failed *Plan
	for i := range plans {
		p := &plans[i]
		if p.InFlight {
			inFlight++
		}
		if failed == nil && p.Failed {
			failed = p
		}
	}
	for i := range plans {
		p := &plans[i]
		if !p.Writes() || !p.StartsPods() {
			continue
		}
		switch {
		case limit.Paused:
			p.Wait(meta.ReasonRolloutPaused, "spec.rollout.paused is true")
		case failed != nil && p.Action != Remove:
			p.Wait(meta.ReasonRolloutFailed, fmt.Sprintf("%s %s did not finish its rollout with this sidecar: nothing more is started until it does, or the sidecar changes", failed.Target.Kind, failed.Target.Name))
		case p.InFlight:
			// It is replaced by its newest version and stays one rollout.
		case limit.Max > 0 && inFlight >= limit.Max:
			p.Wait(meta.ReasonWaitingForBudget, limit.why())
		default:
			inFlight++
		}
	}
}

// why says what has to be waited for.
func (l *Limit) why() string {
	text := fmt.Sprintf("spec.rollout.maxConcurrent lets %d rollouts go on at once", l.Max)
	if l.Soak > 0 {
		text += fmt.Sprintf(", each until its pods have been available for %s (spec.rollout.soak)", l.Soak)
	}
	return text
}
