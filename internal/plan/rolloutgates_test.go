// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// gateCase is a plan in front of the gates. It passes if want is "".
type gateCase struct {
	change func(p *Plan)
	limit  Limit
	counts tally
	want   BlockKind
}

// Several gates block a rollout. The first one in the fixed order is the reason.
func TestFindRolloutBlock_ReturnsFirstBlock(t *testing.T) {
	window := &ClosedWindow{ClosedAt: noon, OpensAt: noon.Add(time.Hour)}
	hold, failing := &Block{Kind: BlockedByWave}, &Block{Kind: BlockedByError}
	other := &Plan{Target: workload.Ref{Kind: "Deployment", Name: "other"}}
	removal := func(p *Plan) { p.Change, p.Desired = Remove, nil }
	update := func(p *Plan) { p.Change = Update }
	canary := func(p *Plan) { p.IsCanary = true }
	inFlight := func(p *Plan) { p.Rollout.InFlight = true }
	failedBefore := func(p *Plan) { p.Rollout.FailedBefore = true }
	steps := func(state workload.Rollout, changes ...func(p *Plan)) func(p *Plan) {
		return func(p *Plan) {
			p.Workload.IsBetween, p.Workload.Rollout = true, state
			for _, change := range changes {
				change(p)
			}
		}
	}
	expired := func(p *Plan) { p.MaxAgeExpired = true }
	rejected := func(p *Plan) { p.Rejection = &Rejection{RejectedAt: noon, RetryAt: noon.Add(time.Second)} }
	createdAt := func(created time.Time, change func(p *Plan)) func(p *Plan) {
		return func(p *Plan) { p.Workload.Created = created; change(p) }
	}
	none := func(*Plan) {}

	for gate, cases := range map[string]map[string]gateCase{
		"write hold": {
			"an injection": {none, Limit{WriteHold: hold}, tally{}, BlockedByWave},
			"a removal":    {removal, Limit{WriteHold: hold}, tally{}, ""},
			"no hold":      {none, Limit{}, tally{}, ""},
		},
		"steps": {
			"an injection":           {steps(workload.RolloutProgressing), Limit{}, tally{}, BlockedBySteps},
			"a removal":              {steps(workload.RolloutProgressing, removal), Limit{}, tally{}, BlockedBySteps},
			"failed, an injection":   {steps(workload.RolloutFailed), Limit{}, tally{}, BlockedBySteps},
			"failed, an update":      {steps(workload.RolloutFailed, update), Limit{}, tally{}, ""},
			"failed, a removal":      {steps(workload.RolloutFailed, removal), Limit{}, tally{}, ""},
			"before a pause":         {steps(workload.RolloutProgressing), Limit{Paused: true}, tally{}, BlockedBySteps},
			"but after a write hold": {steps(workload.RolloutProgressing), Limit{WriteHold: hold}, tally{}, BlockedByWave},
		},
		"max age hold": {
			"an expired wait": {expired, Limit{MaxAgeHold: hold}, tally{}, BlockedByWave},
			"no wait":         {none, Limit{MaxAgeHold: hold}, tally{}, ""},
			"during a pause":  {expired, Limit{MaxAgeHold: hold, Paused: true}, tally{}, BlockedByPause},
		},
		"pause": {
			"an injection":        {none, Limit{Paused: true}, tally{}, BlockedByPause},
			"a removal":           {removal, Limit{Paused: true}, tally{}, BlockedByPause},
			"a rollout in flight": {inFlight, Limit{Paused: true}, tally{}, BlockedByPause},
			"before a failure":    {none, Limit{Paused: true}, tally{failed: other}, BlockedByPause},
		},
		"failure": {
			"an injection":    {none, Limit{}, tally{failed: other}, BlockedByFailure},
			"a removal":       {removal, Limit{}, tally{failed: other}, ""},
			"before a window": {none, Limit{ClosedWindow: window}, tally{failed: other}, BlockedByFailure},
		},
		"window": {
			"an old workload":          {createdAt(noon, none), Limit{ClosedWindow: window}, tally{}, BlockedByWindow},
			"a new workload":           {createdAt(noon.Add(1), none), Limit{ClosedWindow: window}, tally{}, ""},
			"an update of a new one":   {createdAt(noon.Add(1), update), Limit{ClosedWindow: window}, tally{}, BlockedByWindow},
			"no window before":         {createdAt(noon.Add(1), none), Limit{ClosedWindow: &ClosedWindow{}}, tally{}, BlockedByWindow},
			"a removal":                {removal, Limit{ClosedWindow: window}, tally{}, ""},
			"before an old rejection":  {rejected, Limit{ClosedWindow: window}, tally{}, BlockedByWindow},
			"before a canary in front": {none, Limit{ClosedWindow: window}, tally{canary: other}, BlockedByWindow},
		},
		"rejection": {
			"an injection":    {rejected, Limit{}, tally{}, BlockedByRejection},
			"a removal":       {func(p *Plan) { removal(p); rejected(p) }, Limit{}, tally{}, BlockedByRejection},
			"before a canary": {rejected, Limit{}, tally{canary: other}, BlockedByRejection},
		},
		"canary": {
			"another workload":         {none, Limit{}, tally{canary: other}, BlockedByCanary},
			"another canary":           {canary, Limit{}, tally{canary: other}, ""},
			"a removal":                {removal, Limit{}, tally{canary: other}, ""},
			"before a missing canary":  {none, Limit{Unproven: "no pods"}, tally{canary: other, lacksEvidence: true}, BlockedByCanary},
			"before healthy workloads": {failedBefore, Limit{}, tally{canary: other, isQueued: true}, BlockedByCanary},
		},
		"missing canary": {
			"another workload": {none, Limit{Unproven: "no pods"}, tally{lacksEvidence: true}, BlockedByMissingCanary},
			"a canary":         {canary, Limit{Unproven: "no pods"}, tally{lacksEvidence: true}, ""},
			"a removal":        {removal, Limit{Unproven: "no pods"}, tally{lacksEvidence: true}, ""},
			"with evidence":    {none, Limit{Unproven: "no pods"}, tally{}, ""},
			"no canaries":      {none, Limit{}, tally{lacksEvidence: true}, ""},
		},
		"healthy workloads": {
			"failed before":  {failedBefore, Limit{}, tally{isQueued: true}, BlockedByHealthy},
			"none waits":     {failedBefore, Limit{}, tally{}, ""},
			"healthy itself": {none, Limit{}, tally{isQueued: true}, ""},
			"before a slot":  {failedBefore, Limit{Max: 1}, tally{isQueued: true, inFlight: 1}, BlockedByHealthy},
		},
		"slots": {
			"all in use":                          {none, Limit{Max: 2}, tally{inFlight: 2}, BlockedBySlot},
			"a removal":                           {removal, Limit{Max: 2}, tally{inFlight: 2}, BlockedBySlot},
			"one is free":                         {none, Limit{Max: 2}, tally{inFlight: 1}, ""},
			"no limit":                            {none, Limit{}, tally{inFlight: 9}, ""},
			"has a slot":                          {inFlight, Limit{Max: 1}, tally{inFlight: 1}, ""},
			"failed before, shares the rest":      {failedBefore, Limit{Max: 2}, tally{inFlight: 1, inFlightFailed: 1}, BlockedBySlot},
			"failed ones do not use its own slot": {none, Limit{Max: 2}, tally{inFlight: 1, inFlightFailed: 1}, ""},
		},
		"error": {
			"an injection":        {none, Limit{Error: failing}, tally{}, BlockedByError},
			"a removal":           {removal, Limit{Error: failing}, tally{}, ""},
			"but after the slots": {none, Limit{Error: failing, Max: 1}, tally{inFlight: 1}, BlockedBySlot},
		},
	} {
		for name, test := range cases {
			t.Run(gate+"/"+name, func(t *testing.T) {
				p := Plan{Change: Inject, Desired: &Desired{}}
				test.change(&p)
				block := findRolloutBlock(slices.Concat(rolloutGates, errorGates), &p, &test.limit, &test.counts)
				if test.want == "" {
					require.Nil(t, block)
					return
				}
				require.NotNil(t, block)
				require.Equal(t, test.want, block.Kind)
			})
		}
	}
}
