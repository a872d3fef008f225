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

// Fault explains why a pod of a workload does not run, according to the pod's status or to events. The zero value means
// that no fault was found.
type Fault struct {
	// Reason is a condition reason of package meta. Message names the pod and quotes the kubelet, the scheduler or the
	// controller.
	Reason, Message string
	// IsSidecarFault is true if a container of the sidecar is at fault. Container is its name.
	IsSidecarFault bool
	Container      string
	// IsPartial is true if events that might explain the fault could not be read. It may be true without a Reason.
	IsPartial bool
	// IsRestarts is true if a container was restarted too often. Such a fault is reported even if all pods are
	// available.
	IsRestarts bool
}

// rejectionLimit is the maximum length of the message of a rejection, in bytes.
const rejectionLimit = 512

func limitRejectionText(message string) string {
	return strings.ToValidUTF8(message[:min(len(message), rejectionLimit)], "")
}

// FindFault returns the first fault of the pods, in the order of their names. A fault of one of the named containers
// takes precedence over a pod that cannot be scheduled. Pods that are being deleted, were evicted or have ended are
// ignored, because a node drain also has this effect.
func FindFault(pods []corev1.Pod, containers []string, now time.Time) Fault {
	var firstFault Fault
	for _, pod := range podsByName(pods) {
		if isEndedOrDeleted(pod) {
			continue
		}
		if fault := containerFault(pod, containers, now); fault.Reason != "" {
			return fault
		}
		if firstFault.Reason == "" {
			firstFault = schedulingFault(pod)
		}
	}
	return firstFault
}

// podsByName returns pointers to the pods, sorted by name.
func podsByName(pods []corev1.Pod) []*corev1.Pod {
	sorted := make([]*corev1.Pod, len(pods))
	for i := range pods {
		sorted[i] = &pods[i]
	}
	slices.SortFunc(sorted, func(a, b *corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	return sorted
}

// isEndedOrDeleted reports whether a pod has ended, is being deleted, or was evicted.
func isEndedOrDeleted(pod *corev1.Pod) bool {
	isDisrupted := slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.DisruptionTarget && c.Status == corev1.ConditionTrue
	})
	return pod.DeletionTimestamp != nil || isDisrupted || pod.Status.Phase == corev1.PodFailed || pod.Status.Phase == corev1.PodSucceeded
}

// schedulingFault returns the fault of a pod that cannot be scheduled, or the zero value for other pods.
func schedulingFault(pod *corev1.Pod) Fault {
	for _, condition := range pod.Status.Conditions {
		if condition.Type == corev1.PodScheduled && condition.Status == corev1.ConditionFalse && condition.Reason == corev1.PodReasonUnschedulable {
			return Fault{Reason: meta.ReasonUnschedulable, Message: fmt.Sprintf("pod %s: %s", pod.Name, condition.Message)}
		}
	}
	return Fault{}
}

// containerFault returns the first fault in the named containers of a pod: a container that does not run, or one that
// alone keeps the pod from being ready.
func containerFault(pod *corev1.Pod, containers []string, now time.Time) Fault {
	for _, status := range containerStatuses(pod) {
		if !slices.Contains(containers, status.Name) {
			continue
		}
		if reason, message := containerStatusFault(&status, isLongRunning(pod, status.Name)); reason != "" {
			return Fault{Reason: reason, Message: fmt.Sprintf("container %s of pod %s: %s", status.Name, pod.Name, message), IsSidecarFault: true, Container: status.Name}
		}
	}
	return readinessFault(pod, containers, now)
}

// containerStatusFault returns the reason why a container does not run, or "" if it runs or is about to start.
// isLasting reports whether the container must run as long as the pod; its termination is then a fault even with exit
// code 0.
func containerStatusFault(status *corev1.ContainerStatus, isLasting bool) (reason, message string) {
	termination := status.State.Terminated
	if waiting := status.State.Waiting; waiting != nil {
		switch waiting.Reason {
		case "ImagePullBackOff", "ErrImagePull", "ErrImageNeverPull", "InvalidImageName", "ImageInspectError", "RegistryUnavailable":
			return meta.ReasonImagePullBackOff, quoteKubeletMessage("image cannot be pulled", waiting)
		case "CreateContainerConfigError", "CreateContainerError", "RunContainerError":
			return meta.ReasonCreateContainerConfigError, quoteKubeletMessage("cannot be created", waiting)
		}
		termination = status.LastTerminationState.Terminated
		if waiting.Reason == "CrashLoopBackOff" && termination == nil {
			return meta.ReasonCrashLoopBackOff, quoteKubeletMessage("keeps exiting", waiting)
		}
	}
	if termination == nil && !status.Ready { // The container was restarted.
		termination = status.LastTerminationState.Terminated
	}
	switch {
	case termination == nil, termination.ExitCode == 0 && !isLasting:
		return "", ""
	case termination.Reason == meta.ReasonOOMKilled:
		return meta.ReasonOOMKilled, describeTermination(termination)
	}
	return meta.ReasonCrashLoopBackOff, describeTermination(termination)
}

// quoteKubeletMessage returns the description of a problem, followed by the reason and the message of the kubelet.
func quoteKubeletMessage(problem string, waiting *corev1.ContainerStateWaiting) string {
	const limit = 256
	words := strings.ToValidUTF8(waiting.Message[:min(len(waiting.Message), limit)], "")
	return strings.TrimSuffix(fmt.Sprintf("%s: %s: %s", problem, waiting.Reason, words), ": ")
}
