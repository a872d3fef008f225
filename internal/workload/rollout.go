// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
)

// Rollout is the state of a workload's rollout.
type Rollout string

const (
	// RolloutComplete means that every wanted pod runs the current template and is
	// available.
	RolloutComplete Rollout = "Complete"
	// RolloutProgressing means that pods are being replaced, or are not up yet.
	RolloutProgressing Rollout = "Progressing"
	// RolloutUnavailable means that the rollout has finished, and pods are not
	// available any more or not yet again.
	RolloutUnavailable Rollout = "Unavailable"
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)

// Reasons that the Deployment controller gives for the condition Progressing.
const (
	progressDeadlineExceeded = "ProgressDeadlineExceeded"
	newReplicaSetAvailable   = "NewReplicaSetAvailable"
)

func rolloutOf(deployment *appsv1.Deployment) Rollout {
	status := &deployment.Status
	if status.ObservedGeneration < deployment.Generation {
		return RolloutProgressing
	}
	progress := conditionOf(status, appsv1.DeploymentProgressing)
	if progress.Status == corev1.ConditionFalse && progress.Reason == progressDeadlineExceeded {
		return RolloutFailed
	}
	wanted := int32(1)
	if deployment.Spec.Replicas != nil {
		wanted = *deployment.Spec.Replicas
	}
	switch {
	case status.UpdatedReplicas < wanted || status.Replicas > status.UpdatedReplicas:
		return RolloutProgressing
	case status.AvailableReplicas >= status.UpdatedReplicas:
		return RolloutComplete
	case progress.Reason == newReplicaSetAvailable:
		return RolloutUnavailable
	}
	return RolloutProgressing
}

// conditionOf returns a condition of a Deployment, its zero value if there is none.
func conditionOf(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) appsv1.DeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return status.Conditions[i]
		}
	}
	return appsv1.DeploymentCondition{}
}

// refusalOf returns the API server's words if it refuses to make pods of a Deployment:
// because of a quota, a LimitRange, Pod Security or a webhook.
func refusalOf(deployment *appsv1.Deployment) string {
	failure := conditionOf(&deployment.Status, appsv1.DeploymentReplicaFailure)
	if failure.Status != corev1.ConditionTrue {
		return ""
	}
	return strings.ToValidUTF8(failure.Message[:min(len(failure.Message), refusalLimit)], "")
}

// refusalLimit is how many bytes of a refusal are kept.
const refusalLimit = 512

// Availability is for how long all pods of a workload have been available since its last
// rollout. It is the workload's own, whoever asks.
type Availability struct {
	// RolledOut is when the last rollout finished, by the workload's conditions: the
	// Deployment controller's clock, in whole seconds. It is zero while one goes on,
	// and always for a Deployment that has no progress deadline.
	RolledOut time.Time
	// Since is when the workload got to where its rollout is. Zero is long ago.
	Since time.Time
	// Steady is the longest time for which all pods were available, between RolledOut
	// and Since.
	Steady time.Duration
	// IsAssumed reports whether nobody has watched all that time, so that Steady is
	// what it is if pods became unavailable but once.
	IsAssumed bool
}

// availabilityOf reads as much from a workload as it tells by itself: when its status
// last changed, which the API server keeps on record. So nothing has to be written down
// to know it after a restart.
func availabilityOf(deployment *appsv1.Deployment, rollout Rollout) Availability {
	read := Availability{Since: statusChanged(deployment), IsAssumed: true}
	if progress := conditionOf(&deployment.Status, appsv1.DeploymentProgressing); progress.Reason == newReplicaSetAvailable {
		read.RolledOut = progress.LastUpdateTime.Time
	}
	if rollout != RolloutProgressing && !read.RolledOut.IsZero() && read.Since.After(read.RolledOut) {
		read.Steady = read.Since.Sub(read.RolledOut)
	}
	return read
}

// statusChanged is when the status of a Deployment was last changed, by the managed
// fields: when it was created for one that no controller has seen yet. It is zero for
// one that is no API server's.
func statusChanged(deployment *appsv1.Deployment) time.Time {
	last := deployment.CreationTimestamp.Time
	for i := range deployment.ManagedFields {
		entry := &deployment.ManagedFields[i]
		if entry.Subresource == "status" && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// Steadiest is the longest time for which all pods have been available since the last
// rollout, the time that goes on included.
func (s *State) Steadiest(now time.Time) time.Duration {
	if s.Rollout != RolloutComplete {
		return s.Steady
	}
	return max(s.Steady, s.For(now))
}

// For is how long the workload has been where its rollout is.
func (s *State) For(now time.Time) time.Duration {
	if s.Since.IsZero() {
		return math.MaxInt64
	}
	return now.Sub(s.Since)
}

// Follow carries on what is known of the state before. Another rollout than that one's
// is known by the time when it finished, or by another template with another generation:
// scaling gives another generation, too, and is no rollout.
func (s *State) Follow(before *State, isSameTemplate bool, now time.Time) {
	isSameRollout := !s.RolledOut.IsZero() && s.RolledOut.Equal(before.RolledOut) && (isSameTemplate || s.Generation == before.Generation)
	if s.Rollout == before.Rollout && (isSameRollout || s.RolledOut.IsZero()) {
		s.Since, s.Steady, s.IsAssumed = before.Since, before.Steady, before.IsAssumed
		return
	}
	s.Since, s.Steady, s.IsAssumed = now, 0, false
	if isSameRollout {
		s.Steady, s.IsAssumed = before.Steadiest(now), before.IsAssumed
	}
}
