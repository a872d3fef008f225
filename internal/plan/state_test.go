// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// Each case is a plan, and the state of the workload that the status reports.
func TestState_DependsOnPlan(t *testing.T) {
	wanted := &Desired{}
	for name, test := range map[string]struct {
		plan Plan
		want State
	}{
		"settled":                       {Plan{Change: None, Desired: wanted}, Updated},
		"noted, which starts no pods":   {Plan{Change: RecordOnly, Desired: wanted}, Updated},
		"nothing is wanted":             {Plan{Change: None}, Bare},
		"written now":                   {Plan{Change: Update, Desired: wanted}, v1alpha1.StateRollingOut},
		"in its turn":                   {Plan{Change: Update, Desired: wanted, Block: &Block{Kind: BlockedBySlot}}, v1alpha1.StateWaiting},
		"rolling out":                   {Plan{Change: None, Desired: wanted, Rollout: Rollout{InFlight: true}, Workload: workload.State{Rollout: workload.RolloutProgressing}}, v1alpha1.StateRollingOut},
		"rolled out, and not for long":  {Plan{Change: None, Desired: wanted, Rollout: Rollout{InFlight: true}}, v1alpha1.StateSoaking},
		"failed, though in flight":      {Plan{Change: None, Desired: wanted, Rollout: Rollout{InFlight: true, Phase: RolloutFailed}}, v1alpha1.StateFailed},
		"pods that cannot run yet":      {Plan{Change: None, Desired: wanted, Rollout: Rollout{Phase: RolloutPodsBlocked}}, v1alpha1.StatePodsBlocked},
		"lost pods":                     {Plan{Change: None, Desired: wanted, Workload: workload.State{Rollout: workload.RolloutUnavailable}}, v1alpha1.StateUnavailable},
		"removed now":                   {Plan{Change: Remove}, v1alpha1.StateRemoving},
		"removed, and rolling out":      {Plan{Change: None, Rollout: Rollout{InFlight: true}}, v1alpha1.StateRemoving},
		"somebody else's":               {Plan{Block: &Block{Kind: BlockedByConflict}}, v1alpha1.StateConflict},
		"one that cannot take it":       {Plan{Block: &Block{Kind: BlockedByObstacle}}, v1alpha1.StateBlocked},
		"left out by its owner's wish":  {Plan{Block: &Block{Kind: BlockedByOptOut}}, v1alpha1.StateSkipped},
		"left out while it is deleted":  {Plan{Block: &Block{Kind: BlockedByExclusion}}, v1alpha1.StateSkipped},
		"waiting comes before the rest": {Plan{Change: Remove, Block: &Block{Kind: BlockedByPause}, Rollout: Rollout{Phase: RolloutFailed}}, v1alpha1.StateWaiting},
	} {
		test.plan.Rollout = test.plan.Rollout.WithPhase(&test.plan)
		require.Equal(t, test.want, test.plan.State(), name)
	}
}
