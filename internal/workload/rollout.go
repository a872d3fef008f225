// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Rollout is the state of a workload's rollout.
type Rollout string

const (
	// RolloutComplete means that every wanted pod runs the current template.
	RolloutComplete Rollout = "Complete"
	// RolloutProgressing means that pods are being replaced, or are not up yet.
	RolloutProgressing Rollout = "Progressing"
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)

// progressDeadlineExceeded is the reason that the Deployment controller gives.
const progressDeadlineExceeded = "ProgressDeadlineExceeded"

func rolloutOf(deployment *appsv1.Deployment) Rollout {
	status := &deployment.Status
	if status.ObservedGeneration < deployment.Generation {
		return RolloutProgressing
	}
	for _, condition := range status.Conditions {
		if condition.Type == appsv1.DeploymentProgressing && condition.Status == corev1.ConditionFalse && condition.Reason == progressDeadlineExceeded {
			return RolloutFailed
		}
	}
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	if status.UpdatedReplicas < wanted || status.Replicas > status.UpdatedReplicas || status.AvailableReplicas < status.UpdatedReplicas {
		return RolloutProgressing
	}
	return RolloutComplete
}
