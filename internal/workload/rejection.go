// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// rejectionText returns the description of a rejected request of a controller: the controller wants to create its
// dependents, such as pods, and the API server rejects them. reason and message are from a condition or an event.
func rejectionText(dependents, reason, message string) string {
	request := "the update of " + dependents
	switch reason {
	case failedCreate:
		request = "the creation of " + dependents
	case replicaSetCreateError:
		request = "the creation of the ReplicaSet"
	case failedDelete:
		request = "the deletion of " + dependents
	}
	return limitRejectionText("the API server rejects " + request + ": " + message)
}

// RejectionFault returns the Fault for the description of a rejected request (Content.Refusal).
func RejectionFault(refusal string) Fault {
	return Fault{Reason: meta.ReasonPodsRejected, Message: refusal}
}

// EventFields returns the field selector for listing the warning events about a workload.
func EventFields(object Object) map[string]string {
	return map[string]string{"involvedObject.uid": string(object.GetUID()), "type": corev1.EventTypeWarning}
}

// FaultInEvents returns the newest fault in the warning events about a workload. Events before the current revision of
// the pod template are ignored. Events before a later write without a change of the template still count, because
// controllers repeat a warning only after some minutes.
func FaultInEvents(object Object, revision metav1.Object, events []corev1.Event) (fault Fault) {
	last, kind := time.Time{}, objectKind(object)
	cutoff := kind.sinceRevision(object, revision)
	for i := range events {
		event := &events[i]
		eventTime := maxTime(event.LastTimestamp.Time, event.EventTime.Time)
		if event.Series != nil {
			eventTime = maxTime(eventTime, event.Series.LastObservedTime.Time)
		}
		if event.InvolvedObject.UID != object.GetUID() || eventTime.Before(cutoff) || !eventTime.After(last) {
			continue
		}
		if eventFault := faultInEvent(kind, event); eventFault.Reason != "" {
			last, fault = eventTime, eventFault
		}
	}
	return fault
}

// faultInEvent returns the fault that a warning event reports, or the zero value if the operator ignores the reason
// of the event.
func faultInEvent(kind *Kind, event *corev1.Event) Fault {
	reported := kind.reportedReason(event.Reason)
	if reported == "" {
		return Fault{}
	}
	switch event.Reason {
	case failedCreate, failedDelete, failedUpdate:
		return RejectionFault(rejectionText(cmp.Or(kind.Dependents, "pods"), event.Reason, event.Message))
	}
	return Fault{Reason: reported, Message: limitRejectionText("the controller reports " + event.Reason + ": " + event.Message)}
}

// sinceRevision returns the time of the oldest events that concern the current state of a workload. revision is its
// current revision, or nil for kinds without revisions.
func (k *Kind) sinceRevision(object Object, revision metav1.Object) time.Time {
	if k.eventsSince != nil {
		return k.eventsSince(object)
	}
	return lastChangeTime(revision, "")
}
