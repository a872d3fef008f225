// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"math"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// deployments is the adapter of Deployments.
var deployments = Kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("Deployment"),
	Plural:           "Deployments", Resource: "deployments", Short: []string{"deploy"},
	Annotations: "deployment.kubernetes.io/",
	Template:    []string{"spec", "template"},
	Traits:      Traits{HasDeadline: true},
	Defaults:    Defaults{MaxSurge: "25%", MaxUnavailable: "25%"},
	Reasons:     deploymentReasons,
	Revisions: &Revisions{
		Plural:  "ReplicaSets",
		NewList: newReplicaSets,
		Newest:  newestReplicaSet,
		HasPod: func(_ Object, revision metav1.Object, pod *corev1.Pod) bool {
			return metav1.IsControlledBy(pod, revision)
		},
	},
	New:     func() Object { return &appsv1.Deployment{} },
	NewList: func() List { return &appsv1.DeploymentList{} },
	finish:  setFinishedDeployment,
	read:    readDeployment,

	strategy: deploymentStrategy,
	completePod: func(pod *corev1.Pod, object Object) {
		pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = generatedSuffix
		setCreatedOwner(pod, object, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	},
}

// deploymentStrategy returns how a Deployment replaces its pods. With the strategy Recreate, all pods are
// unavailable.
func deploymentStrategy(object Object, pods int, defaults Defaults) Strategy {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok {
		return Strategy{}
	}
	strategy := Strategy{Ready: time.Duration(deployment.Spec.MinReadySeconds) * time.Second}
	if deployment.Spec.Strategy.Type == appsv1.RecreateDeploymentStrategyType {
		strategy.Unavailable = pods
		return strategy
	}
	rolling := ptr.Deref(deployment.Spec.Strategy.RollingUpdate, appsv1.RollingUpdateDeployment{})
	strategy.Surge, strategy.Unavailable = scaleValue(rolling.MaxSurge, defaults.MaxSurge, pods, true), scaleValue(rolling.MaxUnavailable, defaults.MaxUnavailable, pods, false)
	return strategy
}

// Reasons of the condition Progressing that the Deployment controller sets.
const (
	progressDeadlineExceeded = "ProgressDeadlineExceeded"
	newReplicaSetAvailable   = "NewReplicaSetAvailable"
)

// unsetHistory is the value of Content.History for a workload without revisionHistoryLimit.
const unsetHistory = -1

// readDeployment returns the content of a Deployment, or false for other objects.
func readDeployment(object any) (Content, bool) {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok || deployment == nil {
		return Content{}, false
	}
	content := Content{
		Template: &deployment.Spec.Template, Selector: deployment.Spec.Selector,
		Pods: ptr.Deref(deployment.Spec.Replicas, 1), Paused: deployment.Spec.Paused,
		Observed: deployment.Status.ObservedGeneration >= deployment.Generation,
		Rollout:  deploymentRollout(deployment), Refusal: rejectionInDeployment(&deployment.Status),
		History: ptr.Deref(deployment.Spec.RevisionHistoryLimit, unsetHistory),
	}
	if content.Paused && content.Rollout == RolloutProgressing && content.Observed {
		content.Rollout, content.HeldReason = PodsNotReplaced, "the Deployment is paused (spec.paused)"
		content.Old = max(deployment.Status.Replicas-deployment.Status.UpdatedReplicas, 0)
	}
	if content.Observed {
		content.Evidence = minAvailableUpdated(deployment.Status.UpdatedReplicas, deployment.Status.AvailableReplicas, deployment.Status.Replicas)
	}
	content.Idle = idleReason(content.Pods)
	content.IsDown = findCondition(&deployment.Status, appsv1.DeploymentAvailable).Status == corev1.ConditionFalse
	switch progress := findCondition(&deployment.Status, appsv1.DeploymentProgressing); progress.Reason {
	case newReplicaSetAvailable:
		content.RolledOut = progress.LastUpdateTime.Time
	case progressDeadlineExceeded:
		content.Missed = uint32(progress.LastUpdateTime.Unix() & math.MaxUint32)
	}
	return content, true
}

// newReplicaSets returns an empty list of ReplicaSets with only metadata.
func newReplicaSets() List {
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("ReplicaSetList"))
	return list
}

// newestReplicaSet returns the Deployment's ReplicaSet with the Deployment's revision number, or nil for none.
func newestReplicaSet(object Object, replicaSets []metav1.Object) metav1.Object {
	const revision = "deployment.kubernetes.io/revision"
	for _, set := range replicaSets {
		if metav1.IsControlledBy(set, object) && set.GetAnnotations()[revision] == object.GetAnnotations()[revision] {
			return set
		}
	}
	return nil
}

// deploymentRollout returns the state of a Deployment's rollout, from its status.
func deploymentRollout(deployment *appsv1.Deployment) Rollout {
	status := &deployment.Status
	if status.ObservedGeneration < deployment.Generation {
		return RolloutProgressing
	}
	progress := findCondition(status, appsv1.DeploymentProgressing)
	switch {
	case progress.Status == corev1.ConditionFalse && progress.Reason == progressDeadlineExceeded:
		return RolloutFailed
	case status.UpdatedReplicas < ptr.Deref(deployment.Spec.Replicas, 1) || status.Replicas > status.UpdatedReplicas:
		return RolloutProgressing
	case status.AvailableReplicas >= status.UpdatedReplicas:
		return RolloutComplete
	case progress.Reason == newReplicaSetAvailable:
		return RolloutUnavailable
	}
	return RolloutProgressing
}

// findCondition returns the condition of a type, or the zero value if the Deployment does not have the
// condition.
func findCondition(status *appsv1.DeploymentStatus, kind appsv1.DeploymentConditionType) appsv1.DeploymentCondition {
	for i := range status.Conditions {
		if status.Conditions[i].Type == kind {
			return status.Conditions[i]
		}
	}
	return appsv1.DeploymentCondition{}
}

// rejectionInDeployment describes the request of the Deployment's controller that the API server has rejected, such as
// the creation of a pod. It returns "" if no request was rejected.
func rejectionInDeployment(status *appsv1.DeploymentStatus) string {
	if progress := findCondition(status, appsv1.DeploymentProgressing); progress.Status == corev1.ConditionFalse && progress.Reason == replicaSetCreateError {
		return rejectionText("pods", progress.Reason, progress.Message)
	}
	if failure := findCondition(status, appsv1.DeploymentReplicaFailure); failure.Status == corev1.ConditionTrue {
		return rejectionText("pods", failure.Reason, failure.Message)
	}
	return ""
}

// setFinishedDeployment sets the status of a finished rollout on a Deployment that has no status.
func setFinishedDeployment(object Object) {
	deployment, ok := object.(*appsv1.Deployment)
	if !ok || deployment.Status.ObservedGeneration != 0 || deployment.Status.Replicas != 0 {
		return
	}
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
}

// deploymentReasons are the reasons that the Deployment controller sets. It copies ReplicaFailure, which the
// ReplicaSet controller sets.
var deploymentReasons = []ControllerReason{
	{conditionProgressing, progressDeadlineExceeded, meta.ReasonRolloutFailed, "while the condition is False"},
	{conditionProgressing, replicaSetCreateError, meta.ReasonPodsRejected, "while the condition is False. Without progressDeadlineSeconds, the controller reports it only in an event, which is not read"},
	{conditionProgressing, newReplicaSetAvailable, meta.ReasonSoaking, "the time of the condition is the end of the rollout"},
	{conditionProgressing, "ReplicaSetUpdated", "", statusCounts},
	{conditionProgressing, "NewReplicaSetCreated", "", statusCounts},
	{conditionProgressing, "FoundNewReplicaSet", "", statusCounts},
	{conditionProgressing, "DeploymentPaused", "", specSays},
	{conditionProgressing, "DeploymentResumed", "", specSays},
	{"Available", "MinimumReplicasUnavailable", meta.ReasonFailedBefore, "while the condition is False, if it was also False before the sidecar was written"},
	{"Available", "MinimumReplicasAvailable", "", statusCounts},
	{conditionReplicaFailure, failedCreate, meta.ReasonPodsRejected, conditionTrue + ". The ReplicaSet controller sets it, and the Deployment controller copies it"},
	{conditionReplicaFailure, failedDelete, meta.ReasonPodsRejected, conditionTrue},
	{conditionReplicaFailure, "", meta.ReasonPodsRejected, conditionTrue},
}
