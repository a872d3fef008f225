// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// Fault is the reason why a pod of a workload does not run, according to the pod's status. The zero value means
// no fault.
type Fault struct {
	// Reason is a reason of package meta. Message names the pod and quotes the kubelet or the scheduler.
	Reason, Message string
	// IsOurs reports whether the fault is in a container of the operator. Container is the name of that
	// container.
	IsOurs    bool
	Container string
	// IsPartial reports whether events that may show the cause could not be read. It may be set without a
	// Reason.
	IsPartial bool
}

// refusalLimit limits the text of a rejection, in bytes.
const refusalLimit = 512

func refusalText(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), refusalLimit)], "")
}

// FaultOf returns the first fault of pods in name order, preferably of the named containers. Pods that are
// being deleted, were evicted or have ended do not have a fault, because a node drain does this, too.
func FaultOf(pods []corev1.Pod, containers []string, now time.Time) Fault {
	var first Fault
	for _, pod := range byName(pods) {
		if isLeaving(pod) {
			continue
		}
		if fault := containerFault(pod, containers, now); fault.Reason != "" {
			return fault
		}
		if first.Reason == "" {
			first = schedulingFault(pod)
		}
	}
	return first
}

func byName(pods []corev1.Pod) []*corev1.Pod {
	sorted := make([]*corev1.Pod, len(pods))
	for i := range pods {
		sorted[i] = &pods[i]
	}
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

func isLeaving(pod *corev1.Pod) bool {
	isDisrupted := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
	return pod.DeletionTimestamp != nil || isDisrupted || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// schedulingFault returns the fault of an unschedulable pod.
func schedulingFault(pod *corev1.Pod) Fault {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable {
			return Fault{Reason: meta.ReasonUnschedulable, Message: fmt.Sprintf("pod %s: %s", pod.Name, condition.Message)}
		}
	}
	return Fault{}
}

// containerFault returns the first fault of the named containers of a pod.
func containerFault(pod *corev1.Pod, containers []string, now time.Time) Fault {
	for _, status := range statusesOf(pod) {
		if !slices.Contains(containers, status.Name) {
			continue
		}
		if reason, message := faultIn(&status, isLasting(pod, status.Name)); reason != "" {
			return Fault{Reason: reason, Message: fmt.Sprintf("container %s of pod %s: %s", status.Name, pod.Name, message), IsOurs: true, Container: status.Name}
		}
	}
	return readinessFault(pod, containers, now)
}

// faultIn returns the reason why a container does not run, "" if it runs or is about to start. A lasting
// container must not terminate.
func faultIn(status *corev1.ContainerStatus, isLasting bool) (reason, message string) {
	ended := status.State.Terminated
	if waiting := status.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable":
			return meta.ReasonImagePullBackOff, said("image cannot be pulled", waiting)
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return meta.ReasonCreateContainerConfigError, said("cannot be created", waiting)
		}
		ended = status.LastTerminationState.Terminated
		if waiting.Reason == "CrashLoopBackOff" && ended == nil {
			return meta.ReasonCrashLoopBackOff, said("keeps exiting", waiting)
		}
	}
	if ended == nil && !status.Ready { // The container was restarted.
		ended = status.LastTerminationState.Terminated
	}
	switch {
	case ended == nil, ended.ExitCode == 0 && !isLasting:
		return "", ""
	case ended.Reason == meta.ReasonOOMKilled:
		return meta.ReasonOOMKilled, endOf(ended)
	}
	return meta.ReasonCrashLoopBackOff, endOf(ended)
}

// said returns a description with the message of the kubelet.
func said(what string, waiting *corev1.ContainerStateWaiting) string {
	const limit = 256
	words := strings.ToValidUTF8(waiting.Message[:min(len(waiting.Message), limit)], "")
	return strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", what, waiting.Reason, words), ": ")
}
