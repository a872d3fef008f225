// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"testing"

	"github.com/stretchr/testify/require"

	"kontroloop.ai/vector-sidecar-operator/internal/workload"
)

func TestASidecarIsEverywhereIfItRunsAndNoneGetsItLater(t *testing.T) {
	wanted := NewDesired(&workload.Overlay{Hash: "h"}, "logs", "vector", "", nil)
	runs := Plan{Action: None, Desired: wanted, State: workload.State{Rollout: workload.RolloutComplete}}
	rolls, later, blocked := runs, runs, runs
	rolls.Rollout, later.Action, blocked.Action = workload.RolloutProgressing, Defer, Blocked
	none := Plan{Action: None, State: workload.State{Rollout: workload.RolloutComplete}}
	for name, test := range map[string]struct {
		plans []Plan
		want  bool
	}{
		"no workload":                 {nil, false},
		"one that runs it":            {[]Plan{runs}, true},
		"one that rolls out":          {[]Plan{rolls}, false},
		"one that is to have none":    {[]Plan{none}, false},
		"one that cannot have it":     {[]Plan{runs, blocked}, true},
		"none but that":               {[]Plan{blocked}, false},
		"one that waits for its mode": {[]Plan{runs, later}, false},
	} {
		require.Equal(t, test.want, IsEverywhere(test.plans), name)
	}
}
