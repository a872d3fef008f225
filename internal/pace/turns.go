// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package pace

import (
	"slices"

	"kontroloop.ai/vector-sidecar-operator/internal/plan"
)

// Turns tells for each admitted plan in which turn it goes if every rollout of a
// turn finishes before the next begins: 1 is now, 0 never as things stand, or
// nothing to do. The plans are not changed.
func Turns(plans []plan.Plan, limit Limit) []int {
	turns := make([]int, len(plans))
	now := slices.Clone(plans)
	for turn := 1; ; turn++ {
		moved := false
		for i := range now {
			if now[i].Writes() && now[i].StartsPods() {
				turns[i], moved = turn, true
				now[i].Action = plan.None
			}
			// What goes on has finished before the next turn.
			if now[i].InFlight {
				now[i].InFlight, moved = false, true
			}
			now[i].Waiting = false
		}
		if !moved {
			return turns
		}
		Admit(now, limit)
	}
}
