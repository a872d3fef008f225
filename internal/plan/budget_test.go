// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// plansOf makes plans from words: the action due for each workload, or its rollout
// state.
func plansOf(words ...string) []Plan {
	desired := &Desired{}
	var plans []Plan
	for i, word := range words {
		p := Plan{Target: workload.Ref{Kind: "Deployment", Name: string(rune('a' + i))}, Change: None, Desired: desired, Workload: workload.State{Rollout: workload.RolloutComplete, Progress: workload.Progress{Evidence: 1}}}
		switch word {
		case "inject":
			p.Change = Inject
		case "update":
			p.Change = Update
		case "update in flight":
			p.Change, p.Rollout.InFlight, p.Workload.Rollout = Update, true, workload.RolloutProgressing
		case "remove":
			p.Change, p.Desired = Remove, nil
		case "removing":
			p.Desired, p.Rollout.InFlight, p.Workload.Rollout = nil, true, workload.RolloutProgressing
		case "rolling":
			p.Rollout.InFlight, p.Workload.Rollout = true, workload.RolloutProgressing
		case "failed":
			p.Rollout.Phase = RolloutFailed
		case "broken before":
			p.Change, p.Workload.Rollout = Inject, workload.RolloutFailed
		case "failed before":
			p.Change, p.Rollout.FailedBefore, p.Workload.Rollout = Inject, true, workload.RolloutFailed
		case "failed before in flight":
			p.Rollout.FailedBefore, p.Rollout.InFlight, p.Workload.Rollout = true, true, workload.RolloutProgressing
		case "failed before update in flight":
			p.Change, p.Rollout.FailedBefore, p.Rollout.InFlight, p.Workload.Rollout = Update, true, true, workload.RolloutProgressing
		case "failed before and after":
			p.Rollout.FailedBefore, p.Workload.Rollout = true, workload.RolloutFailed
		case "failed before and refused":
			p.Change, p.Rollout.FailedBefore, p.Workload.Rollout = Inject, true, workload.RolloutFailed
			p.Rejection = &Rejection{RejectedAt: noon.Add(-time.Duration(i) * time.Minute)}
		case "conflict":
			p.Change, p.Block = Inject, &Block{Kind: BlockedByConflict}
		case "note":
			p.Change = RecordOnly
		case "note of a failed one":
			p.Change, p.Rollout.Phase = RecordOnly, RolloutFailed
		case "failing in flight":
			p.Rollout.InFlight, p.Rollout.Phase = true, RolloutFailed
		case "refused":
			p.Change = Inject
			p.Rejection = &Rejection{RejectedAt: noon.Add(-time.Duration(i) * time.Minute)}
		case "refused lately":
			p.Change = Inject
			p.Rejection = &Rejection{RejectedAt: noon, RetryAt: noon.Add(time.Second)}
		}
		plans = append(plans, p)
	}
	return plans
}

// canaries marks the plans of workloads.
func canaries(names string, plans []Plan) []Plan {
	for i := range plans {
		plans[i].IsCanary = strings.Contains(names, plans[i].Target.Name)
	}
	return plans
}

// between has the workloads of plans go by steps of their own.
func between(plans []Plan) []Plan {
	for i := range plans {
		plans[i].Workload.IsBetween = true
	}
	return plans
}

// failedIn has the rollouts of plans fail.
func failedIn(plans []Plan) []Plan {
	for i := range plans {
		plans[i].Workload.Rollout = workload.RolloutFailed
	}
	return plans
}

// since sets since when the rollouts of plans are in their state.
func since(at time.Time, plans []Plan) []Plan {
	for i := range plans {
		plans[i].Workload.StateSince = at
	}
	return plans
}

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// created sets when the workloads of plans were created.
func created(at time.Time, plans []Plan) []Plan {
	for i := range plans {
		plans[i].Workload.Created = at
	}
	return plans
}

func TestAdmit_StartsRolloutsWithinLimits(t *testing.T) {
	for name, test := range map[string]struct {
		plans []Plan
		limit Limit
		goes  string
		waits map[string]string
	}{
		"nothing to do":                    {plansOf("none", "rolling"), Limit{Max: 1}, "", nil},
		"a note starts nothing":            {plansOf("note", "inject", "note"), Limit{Max: 1}, "abc", nil},
		"and waits for nothing":            {plansOf("rolling", "note"), Limit{Max: 1, Paused: true}, "b", nil},
		"what has failed has failed":       {plansOf("note of a failed one", "inject"), Limit{}, "a", map[string]string{"b": meta.ReasonRolloutFailed}},
		"no limit":                         {plansOf("inject", "update", "remove"), Limit{}, "abc", nil},
		"the first by name go first":       {plansOf("inject", "inject", "inject"), Limit{Max: 2}, "ab", map[string]string{"c": meta.ReasonWaitingForSlot}},
		"what is in flight counts":         {plansOf("rolling", "inject", "inject"), Limit{Max: 2}, "b", map[string]string{"c": meta.ReasonWaitingForSlot}},
		"so does what is being removed":    {plansOf("removing", "inject"), Limit{Max: 1}, "", map[string]string{"b": meta.ReasonWaitingForSlot}},
		"removal is paced too":             {plansOf("remove", "remove"), Limit{Max: 1}, "a", map[string]string{"b": meta.ReasonWaitingForSlot}},
		"a newer version takes its place":  {plansOf("inject", "update in flight"), Limit{Max: 1}, "b", map[string]string{"a": meta.ReasonWaitingForSlot}},
		"paused":                           {plansOf("inject", "remove"), Limit{Paused: true}, "", map[string]string{"a": meta.ReasonRolloutPaused, "b": meta.ReasonRolloutPaused}},
		"a failure stops the rest":         {plansOf("failed", "inject", "update"), Limit{}, "", map[string]string{"b": meta.ReasonRolloutFailed, "c": meta.ReasonRolloutFailed}},
		"a retry is after the failure":     {since(noon.Add(-time.Second), plansOf("failed", "inject")), Limit{Max: 1, Retried: noon}, "b", nil},
		"a failure in a retry's second":    {since(noon, plansOf("failed", "inject")), Limit{Retried: noon}, "", map[string]string{"b": meta.ReasonRolloutFailed}},
		"a failure without a time":         {since(time.Time{}, plansOf("failed", "inject")), Limit{Retried: noon}, "b", nil},
		"no retry of it":                   {since(time.Time{}, plansOf("failed", "inject")), Limit{}, "", map[string]string{"b": meta.ReasonRolloutFailed}},
		"but no removal":                   {plansOf("failed", "remove"), Limit{Max: 1}, "b", nil},
		"what failed before is no reason":  {plansOf("broken before", "inject"), Limit{}, "ab", nil},
		"what fails keeps its place":       {plansOf("failing in flight", "remove"), Limit{Max: 1}, "", map[string]string{"b": meta.ReasonWaitingForSlot}},
		"nothing between its own steps":    {between(plansOf("inject", "update", "remove", "note")), Limit{Max: 9}, "d", map[string]string{"a": meta.ReasonWaitingForSteps, "b": meta.ReasonWaitingForSteps, "c": meta.ReasonWaitingForSteps}},
		"which have failed with a sidecar": {between(failedIn(plansOf("inject", "update", "remove"))), Limit{Max: 9}, "bc", map[string]string{"a": meta.ReasonWaitingForSteps}},
		"steps take no place":              {append(between(plansOf("update")), plansOf("none", "inject")...), Limit{Max: 1}, "b", map[string]string{"a": meta.ReasonWaitingForSteps}},
		"stopped":                          {plansOf("inject", "update", "remove", "note", "update in flight"), Limit{WriteHold: StopBlock("stopped"), Max: 9}, "c", map[string]string{"a": meta.ReasonWritesStopped, "b": meta.ReasonWritesStopped, "e": meta.ReasonWritesStopped}},
		"outside of the windows":           {plansOf("inject", "update", "remove", "note", "update in flight"), Limit{ClosedWindow: &ClosedWindow{ClosedAt: noon}, Max: 9}, "cd", map[string]string{"a": meta.ReasonOutsideWindow, "b": meta.ReasonOutsideWindow, "e": meta.ReasonOutsideWindow}},
		"what is new since the window":     {created(noon.Add(time.Second), plansOf("inject", "update")), Limit{ClosedWindow: &ClosedWindow{ClosedAt: noon}}, "a", map[string]string{"b": meta.ReasonOutsideWindow}},
		"what is not":                      {created(noon, plansOf("inject")), Limit{ClosedWindow: &ClosedWindow{ClosedAt: noon}}, "", map[string]string{"a": meta.ReasonOutsideWindow}},
		"if there never was a window":      {created(noon, plansOf("inject")), Limit{ClosedWindow: &ClosedWindow{}}, "", map[string]string{"a": meta.ReasonOutsideWindow}},
		"canaries go first":                {canaries("b", plansOf("inject", "inject", "update in flight", "remove", "note")), Limit{Max: 9}, "bde", map[string]string{"a": meta.ReasonWaitingForCanary, "c": meta.ReasonWaitingForCanary}},
		"and finish first":                 {canaries("b", plansOf("update", "rolling")), Limit{Max: 9}, "", map[string]string{"a": meta.ReasonWaitingForCanary}},
		"also those that wait":             {canaries("bc", plansOf("update", "update", "update")), Limit{Max: 1}, "b", map[string]string{"a": meta.ReasonWaitingForCanary, "c": meta.ReasonWaitingForSlot}},
		"one that is done holds nobody":    {canaries("b", plansOf("update", "none")), Limit{}, "a", nil},
		"nor one that cannot have it":      {canaries("b", plansOf("update", "conflict")), Limit{}, "a", nil},
		"nor one that loses the sidecar":   {canaries("b", plansOf("update", "removing")), Limit{}, "a", nil},
		"a canary that fails stops all":    {canaries("b", plansOf("update", "failed")), Limit{}, "", map[string]string{"a": meta.ReasonRolloutFailed}},
		"a conflict takes no place":        {plansOf("conflict", "inject"), Limit{Max: 1}, "b", nil},
		"what was refused goes last":       {plansOf("refused", "inject", "inject"), Limit{Max: 1}, "b", map[string]string{"c": meta.ReasonWaitingForSlot}},
		"the longest ago first":            {plansOf("refused", "refused", "inject"), Limit{Max: 2}, "bc", nil},
		"and not too often":                {plansOf("refused lately", "refused", "inject"), Limit{}, "bc", nil},
		"also as others finish":            {plansOf("refused", "rolling"), Limit{Max: 1}, "", nil},
		"or a canary does":                 {canaries("b", plansOf("refused", "update")), Limit{}, "b", nil},
		"or nothing begins":                {plansOf("refused lately", "refused"), Limit{Paused: true}, "", map[string]string{"a": meta.ReasonRolloutPaused, "b": meta.ReasonRolloutPaused}},

		"failed workloads start last":             {plansOf("failed before", "inject", "update"), Limit{}, "abc", nil},
		"and wait while a healthy one waits":      {plansOf("failed before", "inject", "inject"), Limit{Max: 1}, "b", map[string]string{"a": meta.ReasonWaitingForHealthy, "c": meta.ReasonWaitingForSlot}},
		"or while it waits for a canary":          {canaries("b", plansOf("failed before", "inject", "inject")), Limit{Max: 9}, "b", map[string]string{"a": meta.ReasonWaitingForCanary, "c": meta.ReasonWaitingForCanary}},
		"also if nothing else waits":              {canaries("b", plansOf("failed before", "rolling")), Limit{Max: 9}, "", map[string]string{"a": meta.ReasonWaitingForCanary}},
		"and get slots that are left":             {plansOf("failed before", "rolling", "failed before"), Limit{Max: 2}, "a", map[string]string{"c": meta.ReasonWaitingForSlot}},
		"the limit holds for both together":       {plansOf("rolling", "failed before in flight", "failed before"), Limit{Max: 2}, "", map[string]string{"c": meta.ReasonWaitingForSlot}},
		"but they hold none against a healthy":    {plansOf("failed before in flight", "failed before in flight", "inject"), Limit{Max: 2}, "c", nil},
		"what fails after it failed stops none":   {plansOf("failed before and after", "inject", "failed before"), Limit{Max: 9}, "bc", nil},
		"a newer version waits for healthy, too":  {plansOf("failed before update in flight", "inject", "inject"), Limit{Max: 1}, "b", map[string]string{"a": meta.ReasonWaitingForHealthy, "c": meta.ReasonWaitingForSlot}},
		"and needs no further slot":               {plansOf("failed before update in flight", "rolling"), Limit{Max: 1}, "a", nil},
		"a healthy failure stops them":            {plansOf("failed before", "failed"), Limit{}, "", map[string]string{"a": meta.ReasonRolloutFailed}},
		"what was refused comes after all others": {plansOf("failed before and refused", "failed before", "refused"), Limit{Max: 2}, "bc", nil},
		"a pause stops them":                      {plansOf("failed before"), Limit{Paused: true}, "", map[string]string{"a": meta.ReasonRolloutPaused}},
		"and a stop of all writes":                {plansOf("failed before"), Limit{WriteHold: StopBlock("stopped")}, "", map[string]string{"a": meta.ReasonWritesStopped}},
	} {
		t.Run(name, func(t *testing.T) {
			admitted := Admit(test.plans, test.limit)

			goes, waits := "", map[string]string{}
			for i := range admitted {
				p := &admitted[i]
				if p.Writes() {
					goes += p.Target.Name
				}
				if p.IsWaiting() {
					waits[p.Target.Name] = p.Reason()
					require.NotEmpty(t, p.Message())
				}
			}
			require.Equal(t, test.goes, goes)
			if test.waits == nil {
				test.waits = map[string]string{}
			}
			require.Equal(t, test.waits, waits)
		})
	}
}

// Workloads wait because of a failed one. The message names it.
func TestAdmit_NamesFailedWorkload(t *testing.T) {
	admitted := Admit(plansOf("inject", "failed"), Limit{})
	require.Contains(t, admitted[0].Message(), "the rollout of Deployment b failed")
}

// Workloads wait for the soak of others. The message names the setting and the time.
func TestAdmit_ExplainsWaitForSoak(t *testing.T) {
	admitted := Admit(plansOf("rolling", "inject"), Limit{Max: 1, Soak: 30 * time.Second})
	require.Equal(t, "waiting for a rollout slot: at most 1 rollouts at once (spec.rollout.maxConcurrent), each until its pods have been available for 30s (spec.rollout.soak)", admitted[1].Message())
}
