// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
)

// findProblems sets the problems of the fleet.
func (r *rollout) findProblems(found []inWave, now time.Time) {
	if r.writes.State != checkup.OK {
		r.Problems = append(r.Problems, r.writes.Message)
	}
	members := make([]checkup.FleetMember, 0, len(found))
	for i := range found {
		members = append(members, checkup.FleetMember{Name: found[i].name, Status: found[i].is})
	}
	if result := checkup.Rollout(&r.given, r.since, members, now); result.State != checkup.OK && r.RevisionNotRead == "" && !r.IsUndone {
		r.Problems = append(r.Problems, result.Message)
	}
	for _, fault := range r.Faults {
		part, _, _ := strings.Cut(fault, " does not load")
		r.Problems = append(r.Problems, part+" broken")
	}
}
