// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

// ControllerReason is a reason that the controller of a kind sets in a condition of a workload, or in a warning
// event about a workload. Each Kind lists the reasons of Kubernetes 1.25 to 1.37, or of Argo Rollouts 1.0 to
// 1.10. A reason of a condition that is not listed is not read, unless a note contains an exception.
type ControllerReason struct {
	// Condition is the type of the condition, "" for a warning event.
	Condition, Reason string
	// Reported is the reason or the state that the operator derives, "" if it does not read the controller's reason.
	Reported string
	// Note explains when the reason counts, or why the reason is not read.
	Note string
}

// Types of conditions, and reasons of conditions and events that the code compares.
const (
	conditionProgressing    = "Progressing"
	conditionReplicaFailure = "ReplicaFailure"

	failedCreate          = "FailedCreate"
	failedDelete          = "FailedDelete"
	failedUpdate          = "FailedUpdate"
	replicaSetCreateError = "ReplicaSetCreateError"
	rolloutAborted        = "RolloutAborted"
)

// Notes that several reasons share.
const (
	statusCounts  = "the counts in the status are more precise"
	conditionTrue = "while the condition is True"
	specSays      = "read from the spec or the phase"
	notABlock     = "does not block the controller"
	rejects       = "the API server rejects the change"
)

// reportedReason returns the reason that the operator derives from a warning event about a workload, "" if it does not read the
// event.
func (k *Kind) reportedReason(reason string) string {
	for _, entry := range k.Reasons {
		if entry.Condition == "" && entry.Reason == reason {
			return entry.Reported
		}
	}
	return ""
}
