// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

// heldOnDelete explains why a workload with the update strategy OnDelete keeps its pods.
const heldOnDelete = "updateStrategy is OnDelete; pods get the new template when they are deleted"

// minAvailableUpdated returns the minimum number of available pods with the newest template. A status counts the
// available pods of all templates together, so it assumes that all pods with an older template are available.
func minAvailableUpdated(updated, available, pods int32) int32 {
	older := max(pods-updated, 0)
	return max(min(updated, available-older), 0)
}

// idleReason explains why a workload with this number of replicas does not start pods, or returns "" if it starts pods.
func idleReason(replicas int32) string {
	if replicas == 0 {
		return "0 replicas"
	}
	return ""
}

// LacksPods reports whether the rollout of a workload is complete although no pod has run the template.
func (s *State) LacksPods() bool { return s.Rollout == RolloutComplete && s.Evidence == 0 }
