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

// rejectionText describes a request of a controller for its dependents, such as pods, that the API server
// rejected. The reason is from a condition or an event.
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

// RejectionFault returns the fault for the description of a rejected request.
func RejectionFault(refusal string) Fault {
	return Fault{Reason: meta.ReasonPodsRejected, Message: refusal}
}

// EventFields returns the field selector for listing the warning events about a workload.
func EventFields(object Object) map[string]string {
	return map[string]string{"involvedObject.uid": string(object.GetUID()), "type": corev1.EventTypeWarning}
}

// FaultInEvents returns the newest fault in the warning events of a workload's controller. It ignores events
// that are older than the revision of the pod template. Later writes that do not change the template do not
// make an event too old, because the controller repeats a warning only after some minutes.
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

// sinceRevision returns the earliest time of events that concern the current state of a workload. The revision
// is nil for kinds without revisions.
func (k *Kind) sinceRevision(object Object, revision metav1.Object) time.Time {
	if k.eventsSince != nil {
		return k.eventsSince(object)
	}
	return lastChangeTime(revision, "")
}
