// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package simulate

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/fleet"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// plansOf returns plans that are named by what they do.
func plansOf(words ...string) []plan.Plan {
	var plans []plan.Plan
	for _, word := range words {
		p := plan.Plan{Change: plan.None, Desired: &plan.Desired{}}
		switch word {
		case "inject":
			p.Change = plan.Inject
		case "update":
			p.Change = plan.Update
		case "remove":
			p.Change, p.Desired = plan.Remove, nil
		case "canary":
			p.Change, p.IsCanary = plan.Inject, true
		case "empty canary":
			p.Change, p.IsCanary, p.Workload.Idle = plan.Inject, true, "0 replicas"
		case "rolling canary":
			p.Rollout.InFlight, p.IsCanary = true, true
		case "empty rolling canary":
			p.Rollout.InFlight, p.IsCanary, p.Workload.Idle = true, true, "0 replicas"
		case "rolling":
			p.Rollout.InFlight = true
		case "failed":
			p.Rollout.Phase = plan.RolloutFailed
		case "conflict":
			p.Change, p.Block = plan.Inject, &plan.Block{Kind: plan.BlockedByConflict}
		case "note":
			p.Change = plan.RecordOnly
		}
		plans = append(plans, p)
	}
	return plans
}

// Each case has the planned actions of workloads and a limit of concurrent rollouts, and the batch in which each
// workload rolls out.
func TestBatches_AssignWorkloadsToBatches(t *testing.T) {
	for name, test := range map[string]struct {
		words []string
		limit plan.Limit
		want  []int
	}{
		"nothing to do":                          {[]string{"none", "conflict"}, plan.Limit{Max: 1}, []int{0, 0}},
		"a note is nobody's batch":               {[]string{"note", "inject"}, plan.Limit{Max: 1}, []int{0, 1}},
		"all at once":                            {[]string{"inject", "update", "remove"}, plan.Limit{}, []int{1, 1, 1}},
		"so many at a time, by their order":      {[]string{"inject", "none", "update", "remove", "inject", "inject"}, plan.Limit{Max: 2}, []int{1, 0, 1, 2, 2, 3}},
		"what goes on takes the room of a batch": {[]string{"rolling", "inject", "inject"}, plan.Limit{Max: 1}, []int{0, 2, 3}},
		"a pause is for ever, as things stand":   {[]string{"inject"}, plan.Limit{Paused: true}, []int{0}},
		"others wait for the canary":             {[]string{"inject", "canary", "inject"}, plan.Limit{Unproven: "no canary has pods"}, []int{2, 1, 2}},
		"a canary that soaks":                    {[]string{"rolling canary", "inject"}, plan.Limit{Unproven: "no canary has pods"}, []int{0, 2}},
		"a canary without pods is no evidence":   {[]string{"empty canary", "inject", "remove"}, plan.Limit{Unproven: "no canary has pods"}, []int{1, 0, 1}},
		"nor after its rollout":                  {[]string{"empty rolling canary", "inject", "remove"}, plan.Limit{Unproven: "no canary has pods"}, []int{0, 0, 1}},
		"unless it is promoted":                  {[]string{"empty canary", "inject"}, plan.Limit{}, []int{1, 2}},
		"and so is a failure, but for a removal": {[]string{"failed", "inject", "remove"}, plan.Limit{Max: 1}, []int{0, 0, 1}},
	} {
		t.Run(name, func(t *testing.T) {
			plans := plan.Admit(plansOf(test.words...), test.limit)
			before := slices.Clone(plans)

			require.Equal(t, [][]int{test.want}, Batches([]PacedPlans{{Plans: plans, Limit: test.limit}}, &fleet.Rules{}))
			require.Equal(t, before, plans, "the plans are not changed")
		})
	}
}

// VectorSidecars share the rollout slots of the installation. Removals use slots of their own.
func TestBatches_ShareRolloutSlotsAmongSidecars(t *testing.T) {
	const (
		three = "maxConcurrent: 3"
		share = `maxConcurrent: "20%"`
	)
	many := plansOf("inject", "inject", "inject", "inject", "inject", "inject")
	for name, test := range map[string]struct {
		rules string
		all   []PacedPlans
		want  [][]int
	}{
		"each by itself":                 {"", []PacedPlans{{Plans: many, Limit: plan.Limit{Max: 3}}, {Plans: plansOf("update")}}, [][]int{{1, 1, 1, 2, 2, 2}, {1}}},
		"those with little do not wait":  {three, []PacedPlans{{Plans: many}, {Plans: plansOf("update")}}, [][]int{{1, 1, 2, 2, 2, 3}, {1}}},
		"removals have their own places": {three, []PacedPlans{{Plans: many}, {Plans: plansOf("remove", "remove", "remove", "remove")}}, [][]int{{1, 1, 1, 2, 2, 2}, {1, 1, 1, 2}}},
		"what goes on has a place":       {three, []PacedPlans{{Plans: many}, {Plans: plansOf("rolling", "rolling")}}, [][]int{{1, 2, 2, 2, 3, 3}, {0, 0}}},
		"a share of those matched":       {share, []PacedPlans{{Plans: many, Matched: 6}, {Plans: plansOf("update"), Matched: 4}}, [][]int{{1, 2, 2, 3, 3, 4}, {1}}},
		"after the next window opens":    {"", []PacedPlans{{Plans: plansOf("inject", "remove", "inject"), Limit: plan.Limit{Max: 1, ClosedWindow: &plan.ClosedWindow{ClosedAt: time.Now()}}}}, [][]int{{2, 1, 3}}},
	} {
		t.Run(name, func(t *testing.T) {
			rules, err := fleet.Parse("rules", []byte(test.rules))
			require.NoError(t, err)
			for i := range test.all {
				test.all[i].Sidecar.Name, test.all[i].Plans = string(rune('a'+i)), plan.Admit(test.all[i].Plans, test.all[i].Limit)
			}
			require.Equal(t, test.want, Batches(test.all, rules))
		})
	}
}
