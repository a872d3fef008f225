// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// RestartRule defines how many restarts of a sidecar's container are a fault although the workload's pods run.
type RestartRule struct {
	// Restarts is the minimum number of restarts of a container that is a fault.
	Restarts int32
	// StartedAt is the start time of the rollout. Older pods are ignored, because they have another sidecar.
	StartedAt time.Time
	// RetriedAt is the time when a user continued the failed rollout, or zero for never. Only a container that was
	// restarted after this time can be at fault.
	RetriedAt time.Time
}

// FindFault returns the fault of the first pod, in the order of their names, in which one of the named containers was
// restarted too often. Pods that are being deleted or have ended are ignored.
func (w *RestartRule) FindFault(pods []corev1.Pod, containers []string) Fault {
	for _, pod := range podsByName(pods) {
		if isEndedOrDeleted(pod) || pod.CreationTimestamp.Time.Before(w.StartedAt) {
			continue
		}
		for _, status := range containerStatuses(pod) {
			if slices.Contains(containers, status.Name) && w.exceedsRestarts(&status) {
				return Fault{
					Reason: meta.ReasonSidecarRestarts, IsSidecarFault: true, IsRestarts: true, Container: status.Name,
					Message: fmt.Sprintf("container %s of pod %s was restarted %d times; last termination: %s", status.Name, pod.Name, status.RestartCount, describeTermination(status.LastTerminationState.Terminated)),
				}
			}
		}
	}
	return Fault{}
}

// exceedsRestarts reports whether a container was restarted so often that the restarts are a fault.
func (w *RestartRule) exceedsRestarts(status *corev1.ContainerStatus) bool {
	termination := status.LastTerminationState.Terminated
	return status.RestartCount >= w.Restarts && (w.RetriedAt.IsZero() || termination != nil && termination.FinishedAt.After(w.RetriedAt))
}

// describeTermination describes the last termination of a container. termination is nil if the kubelet does not report
// one.
func describeTermination(termination *corev1.ContainerStateTerminated) string {
	switch {
	case termination == nil:
		return "exited"
	case termination.Reason == meta.ReasonOOMKilled:
		return "killed for using more memory than its limit"
	}
	return fmt.Sprintf("exited with code %d (%s)", termination.ExitCode, termination.Reason)
}

// containerStatuses returns the statuses of all containers of a pod, init containers first.
func containerStatuses(pod *corev1.Pod) []corev1.ContainerStatus {
	return slices.Concat(pod.Status.InitContainerStatuses, pod.Status.ContainerStatuses)
}

// minUnready is the minimum time for which a running container may be unready before that is a fault. A readiness probe
// may extend it.
const minUnready = 30 * time.Second

// readinessFault returns the fault of a pod that is unready only because of one of the named containers: this container
// has been unready for longer than its readiness probe needs to fail, and all other containers are ready.
func readinessFault(pod *corev1.Pod, containers []string, now time.Time) Fault {
	fault := Fault{}
	for _, status := range containerStatuses(pod) {
		isOurs := slices.Contains(containers, status.Name)
		switch spec := findContainer(pod, status.Name); {
		case spec == nil, !isLongRunning(pod, status.Name), status.Ready:
		case !isOurs, status.State.Running == nil:
			return Fault{} // Other containers are also not ready.
		default:
			// The clock of the node may be wrong. The pod cannot have started before the API server created it.
			ran := now.Sub(maxTime(status.State.Running.StartedAt.Time, pod.CreationTimestamp.Time))
			if ran < maxUnreadyTime(spec.ReadinessProbe) || !ptr.Deref(status.Started, true) {
				return Fault{}
			}
			fault = Fault{
				Reason: meta.ReasonSidecarNotReady, IsSidecarFault: true, Container: status.Name,
				Message: fmt.Sprintf("container %s of pod %s has run since %s and is not ready, but all other containers of the pod are ready", status.Name, pod.Name, status.State.Running.StartedAt.UTC().Format(time.RFC3339)),
			}
		}
	}
	return fault
}

// maxUnreadyTime returns the time for which a container with a readiness probe may run without being ready.
func maxUnreadyTime(probe *corev1.Probe) time.Duration {
	if probe == nil {
		return minUnready
	}
	const defaultPeriod, defaultFailures = 10, 3 // These are the defaults of the API server.
	period, failures := probe.PeriodSeconds, probe.FailureThreshold
	if period == 0 {
		period = defaultPeriod
	}
	if failures == 0 {
		failures = defaultFailures
	}
	return max(minUnready, time.Duration(probe.InitialDelaySeconds+period*failures)*time.Second)
}

// findContainer returns the container with a name, or nil for none.
func findContainer(pod *corev1.Pod, name string) *corev1.Container {
	for _, containers := range [][]corev1.Container{pod.Spec.InitContainers, pod.Spec.Containers} {
		if i := slices.IndexFunc(containers, func(c corev1.Container) bool { return c.Name == name }); i >= 0 {
			return &containers[i]
		}
	}
	return nil
}

// isLongRunning reports whether a container must run as long as its pod: an application container or a native
// sidecar.
func isLongRunning(pod *corev1.Pod, name string) bool {
	isNamed := func(c corev1.Container) bool { return c.Name == name }
	if slices.ContainsFunc(pod.Spec.Containers, isNamed) {
		return true
	}
	i := slices.IndexFunc(pod.Spec.InitContainers, isNamed)
	return i >= 0 && ptr.Deref(pod.Spec.InitContainers[i].RestartPolicy, "") == corev1.ContainerRestartPolicyAlways
}
