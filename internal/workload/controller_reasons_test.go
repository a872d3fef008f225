// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"iter"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// stateWith returns the state of a workload in the middle of a rollout, with a condition.
func stateWith(kind *Kind, reason ControllerReason, status corev1.ConditionStatus) State {
	switch kind {
	case &deployments:
		deployment := rolling(1, 4, 3, -1, 0)
		condition := appsv1.DeploymentCondition{Type: appsv1.DeploymentConditionType(reason.Condition), Status: status, Reason: reason.Reason, Message: "quoted", LastUpdateTime: metav1.NewTime(at(30))}
		if reason.Reason == newReplicaSetAvailable {
			deployment = rolling(4, 4, 3, -1, 0)
		}
		deployment.Status.Conditions = []appsv1.DeploymentCondition{condition}
		return ReadState(deployment)
	case &jobs:
		return ReadState(&batchv1.Job{Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobConditionType(reason.Condition), Status: status, Reason: reason.Reason}}}})
	}
	rollout := &argoRollout{Status: argoRolloutStatus{ObservedGeneration: "0", CurrentPodHash: "b", StableRS: "a", UpdatedReplicas: 1, Replicas: 1, Phase: "Progressing"}}
	if reason.Reported == meta.ReasonRolloutFailed {
		rollout.Status.Phase = argoDegraded
	}
	rollout.Status.Conditions = []argoCondition{{Type: reason.Condition, Status: status, Reason: reason.Reason, Message: "quoted"}}
	return ReadState(rollout.object())
}

// allReasons iterates over the reasons of all kinds.
func allReasons() iter.Seq2[*Kind, ControllerReason] {
	return func(yield func(*Kind, ControllerReason) bool) {
		for _, kind := range Kinds() {
			for _, reason := range kind.Reasons {
				if !yield(kind, reason) {
					return
				}
			}
		}
	}
}

// The table lists reasons of conditions, and which of them the operator uses. These change the state of a workload, and
// the others do not.
func TestControllerReason_ListsReasonsOfConditions(t *testing.T) {
	for kind, reason := range allReasons() {
		if reason.Condition == "" {
			continue
		}
		t.Run(kind.Kind+"/"+reason.Condition+"/"+reason.Reason, func(t *testing.T) {
			require.True(t, reason.Reported != "" || reason.Note != "", "say why it is not read")
			other := reason
			other.Condition, other.Reason = "Unknown", "Unknown"
			for _, status := range []corev1.ConditionStatus{corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown} {
				isSet := reason.Condition != "Available" || status == corev1.ConditionTrue // Its status is read, too.
				if reason.Reported == "" && isSet {
					require.Equal(t, stateWith(kind, other, status), stateWith(kind, reason, status), string(status))
				}
			}
			switch reason.Reported {
			case meta.ReasonPodsRejected:
				status := corev1.ConditionTrue
				if reason.Condition == "Progressing" {
					status = corev1.ConditionFalse
				}
				require.Contains(t, stateWith(kind, reason, status).Refusal, ": quoted")
			case meta.ReasonRolloutFailed:
				require.Equal(t, RolloutFailed, stateWith(kind, reason, corev1.ConditionFalse).Rollout)
				if cause := stateWith(kind, reason, corev1.ConditionFalse).FailureCause; reason.Condition == "Progressing" && reason.Reason != progressDeadlineExceeded {
					require.Contains(t, cause, "quoted")
				}
			case meta.ReasonSoaking:
				require.Equal(t, at(30), stateWith(kind, reason, corev1.ConditionTrue).RolledOut)
			case meta.ReasonFailedBefore:
				require.True(t, stateWith(kind, reason, corev1.ConditionFalse).IsDown)
			}
		})
	}
}

// The table lists reasons of events, and which of them the operator uses. These are faults of the workload, and the
// others are not.
func TestControllerReason_ListsReasonsOfEvents(t *testing.T) {
	for kind, reason := range allReasons() {
		if reason.Condition != "" {
			continue
		}
		t.Run(kind.Kind+"/"+reason.Reason, func(t *testing.T) {
			require.True(t, kind.Traits.ReportsByEvent, "its events are listed")
			object := kind.New()
			object.SetUID("it")
			event := corev1.Event{InvolvedObject: corev1.ObjectReference{UID: "it"}, Reason: reason.Reason, Message: "quoted", LastTimestamp: metav1.NewTime(at(30))}
			var revision metav1.Object
			if kind.Revisions != nil {
				revision = &metav1.ObjectMeta{}
			}
			fault := FaultInEvents(object, revision, []corev1.Event{event})
			require.Equal(t, reason.Reported, fault.Reason)
			if fault.Reason != "" {
				require.Contains(t, fault.Message, ": quoted")
			}
		})
	}
}

// For an invalid Rollout, the cause quotes the message of its condition, also if only the phase shows that the Rollout
// is invalid.
func TestArgoRollout_ReportsMessageOfInvalidSpec(t *testing.T) {
	for name, test := range map[string]struct {
		status argoRolloutStatus
		want   string
	}{
		"invalid spec":     {argoRolloutStatus{Phase: argoDegraded, Conditions: []argoCondition{{Type: "InvalidSpec", Status: "True", Reason: "InvalidSpec", Message: "no strategy"}}}, "the spec of the Argo Rollout is invalid: no strategy"},
		"aborted":          {argoRolloutStatus{Abort: true, Conditions: []argoCondition{{Type: "Progressing", Status: "False", Reason: "RolloutAborted", Message: "metric"}}}, "the rollout was aborted: metric"},
		"aborted just now": {argoRolloutStatus{Abort: true}, "the rollout was aborted"},
		"another reason":   {argoRolloutStatus{Phase: argoDegraded, Conditions: []argoCondition{{Type: "Progressing", Status: "False", Reason: "New", Message: "text"}}}, "the controller reports New: text"},
		"deadline":         {argoRolloutStatus{Phase: argoDegraded, Conditions: []argoCondition{{Type: "Progressing", Status: "False", Reason: "ProgressDeadlineExceeded", Message: "late"}}}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			test.status.ObservedGeneration = "0"
			state := ReadState((&argoRollout{Status: test.status}).object())
			require.Equal(t, RolloutFailed, state.Rollout)
			require.Equal(t, test.want, state.FailureCause)
		})
	}
}
