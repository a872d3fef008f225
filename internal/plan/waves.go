// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// Waves returns, for each admitted plan, the wave in which it is carried out if every
// rollout of a wave finishes before the next wave: 1 is now; 0 is never as things are,
// or nothing to do. It does not change the plans.
func Waves(plans []Plan, limit Limit) []int {
	waves := make([]int, len(plans))
	now := slices.Clone(plans)
	for wave := 1; ; wave++ {
		moved := false
		for i := range now {
			if now[i].Writes() && now[i].StartsPods() {
				waves[i], moved = wave, true
				now[i].Action = None
			}
			// Rollouts in flight have finished before the next wave.
			if now[i].InFlight {
				now[i].InFlight, moved = false, true
			}
			now[i].Waiting = false
		}
		if !moved {
			return waves
		}
		Admit(now, limit)
	}
}
