// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "slices"

// Waves tells for each admitted plan in which wave it goes if every rollout of a
// wave finishes before the next begins: 1 is now, 0 never as things stand, or
// nothing to do. The plans are not changed.
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
			// What goes on has finished before the next wave.
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
