// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
	"kontroloop.ai/vector-sidecar-operator/internal/plan"
	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

// podsIn sets the rollout state, since when, and how many pods with the sidecar are available.
func podsIn(rollout workload.Rollout, ago time.Duration, evidence int32) workload.State {
	return workload.State{Rollout: rollout, Availability: workload.Availability{Since: noon.Add(-ago)}, Progress: workload.Progress{Evidence: evidence}}
}

// evidenceStates are the states of a workload with the current sidecar, each with its phase, whether it uses a slot, and
// whether it is evidence that a pod ran the sidecar.
var evidenceStates = map[string]struct {
	state       workload.State
	phase       plan.Phase
	inFlight    bool
	hasEvidence bool
}{
	"all pods have run for the soak": {podsIn(workload.RolloutComplete, time.Minute, 3), plan.Updated, false, true},
	"all pods run and soak":          {podsIn(workload.RolloutComplete, time.Second, 3), v1alpha1.StateSoaking, true, false},
	"no pods":                        {podsIn(workload.RolloutComplete, time.Hour, 0), v1alpha1.StateWithoutPods, false, false},
	"no pods since a moment":         {podsIn(workload.RolloutComplete, time.Second, 0), v1alpha1.StateWithoutPods, false, false},
	"rolls out":                      {podsIn(workload.RolloutProgressing, time.Hour, 1), v1alpha1.StateRollingOut, true, false},
	"lost pods in the soak":          {podsIn(workload.RolloutUnavailable, time.Second, 0), v1alpha1.StateUnavailable, true, false},
	"failed":                         {podsIn(workload.RolloutFailed, time.Hour, 1), v1alpha1.StateFailed, false, false},
	"keeps all pods":                 {podsIn(workload.RolloutHeld, time.Hour, 0), v1alpha1.StateHeld, false, false},
	"keeps some pods":                {podsIn(workload.RolloutHeld, time.Hour, 1), v1alpha1.StateHeld, false, true},
	"keeps some pods since a moment": {podsIn(workload.RolloutHeld, time.Second, 1), v1alpha1.StateHeld, false, false},
}

func TestDecide_UsesNoSlotWithoutPods(t *testing.T) {
	for name, test := range evidenceStates {
		t.Run(name, func(t *testing.T) {
			decided := Decide(&Facts{Sidecar: logs(), Now: noon}, []Workload{
				evaluated("cart", plan.None, &plan.Desired{}, test.state),
				evaluated("next", plan.Inject, &plan.Desired{}, workload.State{}),
			}, nil)
			cart, next := &decided.Plans[0], &decided.Plans[1]
			if test.phase == v1alpha1.StateUnavailable {
				require.True(t, cart.InFlight)
			} else {
				require.Equal(t, test.phase, cart.Phase())
			}
			require.Equal(t, test.inFlight, cart.InFlight)
			require.Equal(t, test.inFlight || cart.Failed, next.Waiting)
		})
	}
}
