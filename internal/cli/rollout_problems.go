// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"
	"time"

	"kontroloop.ai/vector-sidecar-operator/internal/checkup"
)

// findProblems sets Problems, which rollout status prints.
func (r *rollout) findProblems(waveMembers []waveMember, now time.Time) {
	if r.writes.State != checkup.OK {
		r.Problems = append(r.Problems, r.writes.Message)
	}
	members := make([]checkup.FleetMember, 0, len(waveMembers))
	for i := range waveMembers {
		members = append(members, checkup.FleetMember{Name: waveMembers[i].name, Status: waveMembers[i].status})
	}
	if result := checkup.RolloutResult(&r.target, r.publishedAt, members, now); result.State != checkup.OK && r.RevisionNotRead == "" && !r.IsUndone {
		r.Problems = append(r.Problems, result.Message)
	}
	for _, fault := range r.Faults {
		name, _, _ := strings.Cut(fault, " cannot be loaded")
		r.Problems = append(r.Problems, name+" broken")
	}
}
