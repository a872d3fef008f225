// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// The flags state whether any workload rolls out, and whether any change is deferred.
func TestRunningAndDeferred_ReturnsBothFlags(t *testing.T) {
	wanted := NewDesired(&workload.Overlay{Hash: "h"}, "logs", "vector", "", Notes{})
	runs := Plan{Change: None, Desired: wanted, Workload: workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}}
	rolls, later, blocked := runs, runs, runs
	rolls.Workload.Rollout, later.Change, blocked.Change = workload.RolloutProgressing, Update, Update
	later.Block, blocked.Block = &Block{Kind: BlockedByMode}, &Block{Kind: BlockedByObstacle}
	none := Plan{Change: None, Workload: workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}}
	for name, test := range map[string]struct {
		plans                 []Plan
		isRunning, isDeferred bool
	}{
		"no workload":                 {nil, false, false},
		"one that runs it":            {[]Plan{runs}, true, false},
		"one that rolls out":          {[]Plan{rolls}, false, false},
		"one that is to have none":    {[]Plan{none}, false, false},
		"one that cannot have it":     {[]Plan{runs, blocked}, true, false},
		"none but that":               {[]Plan{blocked}, false, false},
		"one that waits for its mode": {[]Plan{runs, later}, true, true},
	} {
		for i := range test.plans {
			test.plans[i].Rollout = test.plans[i].Rollout.WithPhase(&test.plans[i])
		}
		isRunning, isDeferred := RunningAndDeferred(test.plans)
		require.Equal(t, test.isRunning, isRunning, name)
		require.Equal(t, test.isDeferred, isDeferred, name)
	}
}

// A workload that waits for a failed or stuck rollout is settled, because nothing happens to it until a user acts.
func TestIsSettled_IncludesPlansBehindStuckRollouts(t *testing.T) {
	now := time.Unix(10_000, 0)
	wanted := NewDesired(&workload.Overlay{Hash: "h"}, "logs", "vector", "", Notes{})
	of := func(rollout workload.Rollout, change func(*Plan)) Plan {
		p := Plan{Change: None, Desired: wanted, Workload: workload.State{Rollout: rollout}}
		p.Workload.StateSince = now.Add(-time.Minute)
		change(&p)
		return p
	}
	runs := of(workload.RolloutComplete, func(*Plan) {})
	rolls := of(workload.RolloutProgressing, func(p *Plan) { p.Rollout.InFlight = true })
	failed := of(workload.RolloutFailed, func(p *Plan) { p.Rollout.Phase = RolloutFailed })
	lost := of(workload.RolloutUnavailable, func(p *Plan) { p.Rollout.InFlight = true })
	long := of(workload.RolloutUnavailable, func(p *Plan) { p.Rollout.InFlight, p.Workload.StateSince = true, now.Add(-workload.Deadline) })
	begins := of(workload.RolloutComplete, func(p *Plan) { p.Change = Update })
	rejected := of(workload.RolloutComplete, func(p *Plan) { p.Change, p.Block = Update, &Block{Kind: BlockedByRejection} })
	waits := of(workload.RolloutComplete, func(p *Plan) {
		p.Change = Update
		*p = p.WithBlock(&Block{Kind: BlockedBySlot, Reason: meta.ReasonWaitingForSlot})
	})
	paused := of(workload.RolloutComplete, func(p *Plan) {
		p.Change = Update
		*p = p.WithBlock(&Block{Kind: BlockedByPause, Reason: meta.ReasonRolloutPaused})
	})
	removed := of(workload.RolloutProgressing, func(p *Plan) { p.Desired, p.Rollout.InFlight = nil, true })
	for name, test := range map[string]struct {
		plans     []Plan
		isRefused bool
		want      bool
		again     time.Duration
	}{
		"no workload":                      {nil, false, true, 0},
		"one that runs it":                 {[]Plan{runs}, false, true, 0},
		"one that rolls out":               {[]Plan{runs, rolls}, false, false, 0},
		"one that is about to":             {[]Plan{begins}, false, false, 0},
		"one whose write is refused":       {[]Plan{begins, waits}, true, true, 0},
		"one whose write was refused":      {[]Plan{rejected, waits}, false, true, 0},
		"one that waits":                   {[]Plan{runs, waits}, false, false, 0},
		"one that is paused":               {[]Plan{runs, paused}, false, true, 0},
		"one that has failed":              {[]Plan{failed, waits}, false, true, 0},
		"one that has failed, and another": {[]Plan{failed, rolls, waits}, false, false, 0},
		"one that has lost pods":           {[]Plan{lost, waits}, false, false, workload.Deadline - time.Minute},
		"one that has long lost pods":      {[]Plan{long, waits}, false, true, 0},
		"one that loses the sidecar":       {[]Plan{removed}, false, true, 0},
	} {
		isSettled, again := IsSettled(test.plans, test.isRefused, now)
		require.Equal(t, test.want, isSettled, name)
		require.Equal(t, test.again, again, name)
	}
}
