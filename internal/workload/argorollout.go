// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"maps"
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
	"kontroloop.ai/vector-sidecar-operator/internal/tree"
)

// argoRollouts is the adapter of Rollouts of Argo Rollouts. They roll out in steps with pauses. If the template
// changes during a rollout, the rollout starts again with the first step.
var argoRollouts = Kind{
	GroupVersionKind: argoRolloutKind,
	Plural:           "Rollouts", Resource: "rollouts", Short: []string{"ro"},
	Annotations: "rollout.argoproj.io/",
	Template:    []string{"spec", "template"},
	Traits:      Traits{HasDeadline: true, AtomicLists: true, Refers: true, OptionalAPI: true},
	Defaults: Defaults{MaxSurge: "25%", MaxUnavailable: "25%", Container: []FieldDefault{
		{[]string{"ports", "*", "protocol"}, "TCP"},
		{[]string{"env", "*", "valueFrom", "fileKeyRef", "optional"}, false},
		{[]string{"livenessProbe", "grpc", "service"}, ""},
		{[]string{"readinessProbe", "grpc", "service"}, ""},
		{[]string{"startupProbe", "grpc", "service"}, ""},
	}},
	Reasons: argoReasons,
	Revisions: &Revisions{
		Plural:  "ReplicaSets",
		NewList: newReplicaSets,
		Newest:  currentArgoReplicaSet,
		HasPod: func(_ Object, revision metav1.Object, pod *corev1.Pod) bool {
			return metav1.IsControlledBy(pod, revision)
		},
	},
	New:     func() Object { return newUnstructured(argoRolloutKind) },
	NewList: func() List { return newUnstructuredList(argoRolloutKind) },
	finish:  setFinishedArgoRollout,
	read:    readArgoRollout,

	strategy: argoRolloutStrategy,
	completePod: func(pod *corev1.Pod, object Object) {
		pod.Labels["rollouts-pod-template-hash"] = generatedSuffix
		setCreatedOwner(pod, object, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	},
}

// Phases of a Rollout, as its controller sets them.
const (
	argoHealthy  = "Healthy"
	argoDegraded = "Degraded"
	argoPaused   = "Paused"
)

// These messages explain why pods keep their template.
const (
	argoPausedByUser = "the Argo Rollout is paused (spec.paused)"
	argoPausedByStep = "the Argo Rollout is paused by a step; the next step starts pods with the new template"
)

// argoRolloutKind is the group, version and kind of Rollouts.
var argoRolloutKind = schema.GroupVersionKind{Group: "argoproj.io", Version: "v1alpha1", Kind: "Rollout"}

// argoRolloutStrategy returns how a Rollout replaces its pods. A blue-green Rollout starts all new pods before it
// stops the old ones.
func argoRolloutStrategy(object Object, pods int, defaults Defaults) Strategy {
	rollout, _ := decodeArgoRollout(object)
	strategy := Strategy{Ready: time.Duration(rollout.Spec.MinReadySeconds) * time.Second}
	if rollout.Spec.Strategy.BlueGreen != nil {
		strategy.Surge = pods // The new pods run next to all old pods.
		return strategy
	}
	canary := ptr.Deref(rollout.Spec.Strategy.Canary, argoCanary{})
	strategy.Surge = scaleValue(canary.MaxSurge, defaults.MaxSurge, pods, true)
	strategy.Unavailable = scaleValue(canary.MaxUnavailable, defaults.MaxUnavailable, pods, false)
	return strategy
}

// readArgoRollout returns the content of a Rollout, or false for other objects.
func readArgoRollout(object any) (Content, bool) {
	if !isUnstructured(object, argoRolloutKind) {
		return Content{}, false
	}
	rollout, unread := decodeArgoRollout(object.(*unstructured.Unstructured)) //nolint:forcetypeassert // The type was tested above.
	content := Content{
		Template: &rollout.Spec.Template, Selector: rollout.Spec.Selector,
		Pods: rollout.replicas(), Paused: rollout.Spec.Paused,
		Observed: rollout.isObserved(), Refusal: rejectionInArgoRollout(rollout), Unread: unread,
		History: ptr.Deref(rollout.Spec.RevisionHistoryLimit, unsetHistory),
	}
	content.Rollout, content.Progress = argoRolloutProgress(rollout)
	if unread.Other != "" {
		content.Rollout = RolloutUnavailable // The progress cannot be read, so other workloads do not wait for it.
	}
	if reference := rollout.Spec.WorkloadRef; reference != nil {
		observedGeneration, _ := strconv.ParseInt(rollout.Status.WorkloadObservedGeneration, 10, 64) // A missing generation is 0.
		content.Refers = &Reference{Kind: reference.Kind, Name: reference.Name, ObservedGeneration: observedGeneration}
		content.Template = &corev1.PodTemplateSpec{}
	}
	if content.Selector == nil { // The status has the selector of the other workload.
		content.Selector, _ = metav1.ParseToLabelSelector(rollout.Status.Selector)
	}
	return content, true
}

// replicas returns the desired number of pods.
func (r *argoRollout) replicas() int32 { return ptr.Deref(r.Spec.Replicas, 1) }

// isObserved reports whether the status is for the newest generation of the Rollout.
func (r *argoRollout) isObserved() bool {
	observedGeneration, err := strconv.ParseInt(r.Status.ObservedGeneration, 10, 64)
	return err == nil && observedGeneration >= r.Generation
}

// argoRolloutProgress returns the state and the progress of a Rollout. A rollout is in progress while the current
// template differs from the stable template in the status, which the controller changes after the last step. The
// controller may combine a change that it has not observed yet with another change.
func argoRolloutProgress(rollout *argoRollout) (Rollout, Progress) {
	status, replicas := &rollout.Status, rollout.replicas()
	progress := Progress{
		ProgressCount: status.UpdatedReplicas + min(status.AvailableReplicas, status.UpdatedReplicas),
		Newest:        hashText(status.CurrentPodHash),
		Old:           max(status.Replicas-status.UpdatedReplicas, 0),
		IsDown:        replicas > 0 && status.AvailableReplicas == 0,
		IsBetween:     status.StableRS != "" && status.StableRS != status.CurrentPodHash,
	}
	progress.Evidence, progress.Idle = minAvailableUpdated(status.UpdatedReplicas, status.AvailableReplicas, status.Replicas), idleReason(replicas)
	heldReason := ""
	switch {
	case rollout.Spec.Paused:
		heldReason = argoPausedByUser
	case status.Phase == argoPaused:
		heldReason = argoPausedByStep
	}
	isShort := status.UpdatedReplicas < replicas || status.AvailableReplicas < replicas
	switch {
	case !rollout.isObserved():
		progress.ProgressCount, progress.Evidence = 0, 0 // These count pods of the previous template.
		return RolloutProgressing, progress
	case status.Abort || status.Phase == argoDegraded:
		progress.FailureCause = argoFailureCause(rollout)
		progress.Advice = "after you fix the cause, run kubectl argo rollouts retry rollout " + rollout.Name + " -n " + rollout.Namespace
		return RolloutFailed, progress
	case progress.IsBetween && heldReason != "":
		progress.HeldReason = heldReason
		return PodsNotReplaced, progress
	case progress.IsBetween:
		return RolloutProgressing, progress
	case isShort && status.StableRS != "":
		progress.MayContinue = true // The rollout was finished, and pods are lost or the workload is scaled.
		return RolloutUnavailable, progress
	case isShort:
		return RolloutProgressing, progress
	}
	progress.Evidence = min(status.UpdatedReplicas, status.AvailableReplicas) // Pods of the previous revision may run for a while.
	return RolloutComplete, progress
}

// rejectionInArgoRollout describes the request of the Rollout's controller that the API server has rejected, such as
// the creation of a pod. It returns "" if no request was rejected.
func rejectionInArgoRollout(rollout *argoRollout) string {
	if progress := rollout.condition("Progressing"); progress.Status == corev1.ConditionFalse && progress.Reason == replicaSetCreateError {
		return rejectionText("pods", progress.Reason, progress.Message)
	}
	if failure := rollout.condition("ReplicaFailure"); failure.Status == corev1.ConditionTrue {
		return rejectionText("pods", failure.Reason, failure.Message)
	}
	return ""
}

// argoFailureCause returns the cause of a failed rollout for messages. It returns "" if the cause is a missed deadline.
func argoFailureCause(rollout *argoRollout) string {
	progress, invalid := rollout.condition("Progressing"), rollout.condition("InvalidSpec")
	switch {
	case invalid.Status == corev1.ConditionTrue:
		return "the spec of the Argo Rollout is invalid: " + limitRejectionText(invalid.Message)
	case progress.Status == corev1.ConditionFalse && progress.Reason == rolloutAborted:
		return "the rollout was aborted: " + limitRejectionText(progress.Message)
	case rollout.Status.Abort:
		return "the rollout was aborted"
	case progress.Status == corev1.ConditionFalse && progress.Reason != "" && progress.Reason != progressDeadlineExceeded:
		return "the controller reports " + progress.Reason + ": " + limitRejectionText(progress.Message)
	}
	return ""
}

// condition returns the condition of a type, or the zero value if the Rollout does not have the condition.
func (r *argoRollout) condition(kind string) argoCondition {
	for _, condition := range r.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return argoCondition{}
}

// argoHashLabel is the label that the controller sets on ReplicaSets and pods.
const argoHashLabel = "rollouts-pod-template-hash"

// currentArgoReplicaSet returns the ReplicaSet with the current pod template of a Rollout, nil if it does not exist yet.
func currentArgoReplicaSet(object Object, sets []metav1.Object) metav1.Object {
	rollout, _ := decodeArgoRollout(object)
	for _, set := range sets {
		if metav1.IsControlledBy(set, object) && set.GetLabels()[argoHashLabel] == rollout.Status.CurrentPodHash {
			return set
		}
	}
	return nil
}

// setFinishedArgoRollout sets the status of a finished rollout on a Rollout that has no status.
func setFinishedArgoRollout(object Object) {
	rollout, _ := object.(*unstructured.Unstructured)
	fields, _ := decodeArgoRollout(object)
	if fields.Status.ObservedGeneration != "" || fields.Status.Replicas != 0 {
		return
	}
	status := maps.Clone(tree.Map(rollout.Object["status"]))
	if status == nil {
		status = map[string]any{}
	}
	replicas := int64(fields.replicas())
	status["observedGeneration"], status["phase"] = strconv.FormatInt(rollout.GetGeneration(), 10), argoHealthy
	status["replicas"], status["updatedReplicas"], status["availableReplicas"] = replicas, replicas, replicas
	rollout.Object["status"] = status
}

// argoFailed is the note of reasons that the operator reads only if the Rollout has failed.
const argoFailed = "while the phase is Degraded, or the Rollout is aborted"

// argoReasons are the reasons that the controller of Argo Rollouts sets. If a Rollout has failed, the
// operator's message may also quote other reasons.
var argoReasons = []ControllerReason{
	{"InvalidSpec", "InvalidSpec", meta.ReasonRolloutFailed, argoFailed},
	{conditionProgressing, progressDeadlineExceeded, meta.ReasonRolloutFailed, argoFailed},
	{conditionProgressing, rolloutAborted, meta.ReasonRolloutFailed, argoFailed},
	{conditionProgressing, replicaSetCreateError, meta.ReasonPodsRejected, "while the condition is False"},
	{conditionProgressing, newReplicaSetAvailable, "", statusCounts},
	{conditionProgressing, "ReplicaSetUpdated", "", statusCounts},
	{conditionProgressing, "ReplicaSetNotAvailable", "", statusCounts},
	{conditionProgressing, "NewReplicaSetCreated", "", statusCounts},
	{conditionProgressing, "FoundNewReplicaSet", "", statusCounts},
	{conditionProgressing, "RolloutPaused", "", specSays},
	{conditionProgressing, "RolloutResumed", "", specSays},
	{conditionProgressing, "RolloutRetry", "", specSays},
	{"Paused", "RolloutPaused", "", specSays},
	{"Available", "AvailableReason", "", statusCounts},
	{"Healthy", "RolloutHealthy", "", specSays},
	{"Completed", "RolloutCompleted", "", statusCounts},
	{conditionReplicaFailure, failedCreate, meta.ReasonPodsRejected, conditionTrue},
	{conditionReplicaFailure, failedDelete, meta.ReasonPodsRejected, conditionTrue},
	{conditionReplicaFailure, "", meta.ReasonPodsRejected, conditionTrue},
}
