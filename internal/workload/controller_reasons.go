// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

// ControllerReason is a reason that the controller of a kind sets in a condition of a workload, or in a warning event
// about a workload. Each Kind lists the reasons of Kubernetes 1.25 to 1.37, or of Argo Rollouts 1.0 to 1.10. The
// operator ignores conditions with other reasons, unless a Note says otherwise.
type ControllerReason struct {
	// Condition is the type of the condition that has the reason. It is "" for a warning event.
	Condition, Reason string
	// Reported is the reason or the state that the operator reports for the controller's reason, or "" if the
	// operator ignores that reason.
	Reported string
	// Note explains when the operator reports the reason, or why it ignores the reason. The reference of reasons
	// contains it.
	Note string
}

// The following constants are types of conditions, and reasons of conditions and events, that the code
// compares.
const (
	conditionProgressing    = "Progressing"
	conditionReplicaFailure = "ReplicaFailure"

	failedCreate          = "FailedCreate"
	failedDelete          = "FailedDelete"
	failedUpdate          = "FailedUpdate"
	replicaSetCreateError = "ReplicaSetCreateError"
	rolloutAborted        = "RolloutAborted"
)

// These are notes that several reasons share.
const (
	statusCounts  = "the counts in the status are more precise"
	conditionTrue = "while the condition is True"
	specSays      = "read from the spec or the phase"
	notABlock     = "does not block the controller"
	rejects       = "the API server rejects the change"
)

// reportedReason returns the reason that the operator reports for the reason of a warning event, or "" if the operator
// ignores such events.
func (k *Kind) reportedReason(reason string) string {
	for _, entry := range k.Reasons {
		if entry.Condition == "" && entry.Reason == reason {
			return entry.Reported
		}
	}
	return ""
}
