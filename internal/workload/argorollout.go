// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"strconv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// argoRollouts is the adapter of Rollouts of Argo Rollouts. They go by steps of their own,
// with pauses between; another template begins with the first step again.
var argoRollouts = Kind{
	GroupVersionKind: argoGroupVersion.WithKind("Rollout"),
	Plural:           "Rollouts", Resource: "rollouts", Short: []string{"ro"},
	Annotations: "rollout.argoproj.io/",
	Template:    []string{"spec", "template"},
	Traits:      Traits{HasDeadline: true, AtomicLists: true, Refers: true, MayLack: true},
	Reasons:     argoReasons,
	Revisions: &Revisions{
		Plural:  "ReplicaSets",
		NewList: newReplicaSets,
		Newest:  newestOfArgoRollout,
		Has: func(_ Object, revision metav1.Object, pod *corev1.Pod) bool {
			return metav1.IsControlledBy(pod, revision)
		},
	},
	New:     func() Object { return &ArgoRollout{} },
	NewList: func() List { return &ArgoRolloutList{} },
	finish:  finishArgoRollout,
	read:    readArgoRollout,

	register: func(scheme *runtime.Scheme) {
		scheme.AddKnownTypeWithName(argoGroupVersion.WithKind("Rollout"), &ArgoRollout{})
		scheme.AddKnownTypeWithName(argoGroupVersion.WithKind("RolloutList"), &ArgoRolloutList{})
		metav1.AddToGroupVersion(scheme, argoGroupVersion)
	},
	strategy: strategyOfArgoRollout,
	give: func(to *corev1.Pod, of Object) {
		to.Labels["rollouts-pod-template-hash"] = madeUp
		ownedByMade(to, of, appsv1.SchemeGroupVersion.WithKind("ReplicaSet"))
	},
}

// Phases of a Rollout, as its controller sets them.
const (
	argoHealthy  = "Healthy"
	argoDegraded = "Degraded"
	argoPaused   = "Paused"
)

// Why pods keep their template.
const (
	argoHeldByPerson = "its rollouts are paused"
	argoHeldByStep   = "its own steps pause: pods get it with the next one"
)

func strategyOfArgoRollout(object Object, pods int) Strategy {
	rollout, isOne := object.(*ArgoRollout)
	if !isOne {
		return Strategy{}
	}
	of := Strategy{Ready: time.Duration(rollout.Spec.MinReadySeconds) * time.Second}
	if rollout.Spec.Strategy.BlueGreen != nil {
		of.Surge = pods // The new ones run beside all of the old ones.
		return of
	}
	canary := ptr.Deref(rollout.Spec.Strategy.Canary, ArgoCanary{})
	of.Surge, of.Unavailable = scaled(canary.MaxSurge, "25%", pods, true), scaled(canary.MaxUnavailable, "25%", pods, false)
	return of
}

func readArgoRollout(object any) (Content, bool) {
	rollout, isOne := object.(*ArgoRollout)
	if !isOne || rollout == nil {
		return Content{}, false
	}
	content := Content{
		Template: &rollout.Spec.Template, Selector: rollout.Spec.Selector,
		Pods: ptr.Deref(rollout.Spec.Replicas, 1), Paused: rollout.Spec.Paused,
		Observed: rollout.isObserved(), Refusal: rejectionInArgoRollout(rollout), Unread: rollout.unread,
		History: ptr.Deref(rollout.Spec.RevisionHistoryLimit, unsetHistory),
	}
	content.Rollout, content.Progress = rolloutOfArgoRollout(rollout)
	if rollout.unread.Else != "" {
		content.Rollout = RolloutUnavailable // How far it is, is not known: nobody waits for it.
	}
	if of := rollout.Spec.WorkloadRef; of != nil {
		seen, _ := strconv.ParseInt(rollout.Status.WorkloadObservedGeneration, 10, 64) // None yet is 0.
		content.Refers = &Reference{Kind: of.Kind, Name: of.Name, Seen: seen}
		content.Template = &corev1.PodTemplateSpec{}
	}
	if content.Selector == nil { // It is that of the other workload.
		content.Selector, _ = metav1.ParseToLabelSelector(rollout.Status.Selector)
	}
	return content, true
}

// isObserved reports whether the controller has seen the newest generation.
func (r *ArgoRollout) isObserved() bool {
	seen, err := strconv.ParseInt(r.Status.ObservedGeneration, 10, 64)
	return err == nil && seen >= r.Generation
}

// rolloutOfArgoRollout goes by the templates: the one that the controller goes to, and the
// stable one, which it leaves when all steps are done. A change that the controller has not
// seen yet can still be joined.
func rolloutOfArgoRollout(rollout *ArgoRollout) (Rollout, Progress) {
	status, replicas := &rollout.Status, ptr.Deref(rollout.Spec.Replicas, 1)
	progress := Progress{
		Done:      status.UpdatedReplicas + min(status.AvailableReplicas, status.UpdatedReplicas),
		Newest:    hashOf(status.CurrentPodHash),
		Old:       max(status.Replicas-status.UpdatedReplicas, 0),
		IsDown:    replicas > 0 && status.AvailableReplicas == 0,
		IsBetween: status.StableRS != "" && status.StableRS != status.CurrentPodHash,
	}
	progress.Evidence, progress.Idle = availableOf(status.UpdatedReplicas, status.AvailableReplicas, status.Replicas), idleAt(replicas)
	held := ""
	switch {
	case rollout.Spec.Paused:
		held = argoHeldByPerson
	case status.Phase == argoPaused:
		held = argoHeldByStep
	}
	isShort := status.UpdatedReplicas < replicas || status.AvailableReplicas < replicas
	switch {
	case !rollout.isObserved():
		progress.Done, progress.Evidence = 0, 0 // Of the template before.
		return RolloutProgressing, progress
	case status.Abort || status.Phase == argoDegraded:
		progress.FailureCause = argoCause(rollout)
		progress.Advice = "when the cause is removed, retry it (kubectl argo rollouts retry)"
		return RolloutFailed, progress
	case progress.IsBetween && held != "":
		progress.Held = held
		return PodsNotReplaced, progress
	case progress.IsBetween:
		return RolloutProgressing, progress
	case isShort && status.StableRS != "":
		progress.MayGoOn = true // It was done, and has lost pods or is scaled.
		return RolloutUnavailable, progress
	case isShort:
		return RolloutProgressing, progress
	}
	progress.Evidence = min(status.UpdatedReplicas, status.AvailableReplicas) // Pods of the revision before may run for a while.
	return RolloutComplete, progress
}

// rejectionInArgoRollout describes why the API server rejects what its controller needs, "" if it does not.
func rejectionInArgoRollout(rollout *ArgoRollout) string {
	if progress := rollout.condition("Progressing"); progress.Status == corev1.ConditionFalse && progress.Reason == replicaSetCreateError {
		return rejectionText("pods", progress.Reason, progress.Message)
	}
	if failure := rollout.condition("ReplicaFailure"); failure.Status == corev1.ConditionTrue {
		return rejectionText("pods", failure.Reason, failure.Message)
	}
	return ""
}

// argoCause says why a rollout has failed, "" if its deadline has passed.
func argoCause(rollout *ArgoRollout) string {
	progress, invalid := rollout.condition("Progressing"), rollout.condition("InvalidSpec")
	switch {
	case invalid.Status == corev1.ConditionTrue:
		return "its spec is invalid: " + refusalText(invalid.Message)
	case progress.Status == corev1.ConditionFalse && progress.Reason == rolloutAborted:
		return "its rollout was aborted: " + refusalText(progress.Message)
	case rollout.Status.Abort:
		return "its rollout was aborted"
	case progress.Status == corev1.ConditionFalse && progress.Reason != "" && progress.Reason != progressDeadlineExceeded:
		return "its controller reports " + progress.Reason + ": " + refusalText(progress.Message)
	}
	return ""
}

// condition returns a condition of a Rollout, or its zero value.
func (r *ArgoRollout) condition(kind string) ArgoCondition {
	for _, condition := range r.Status.Conditions {
		if condition.Type == kind {
			return condition
		}
	}
	return ArgoCondition{}
}

// argoHashLabel is what the controller labels ReplicaSets and pods with.
const argoHashLabel = "rollouts-pod-template-hash"

func newestOfArgoRollout(of Object, all []metav1.Object) metav1.Object {
	rollout, isOne := of.(*ArgoRollout)
	for _, set := range all {
		if isOne && metav1.IsControlledBy(set, of) && set.GetLabels()[argoHashLabel] == rollout.Status.CurrentPodHash {
			return set
		}
	}
	return nil
}

func finishArgoRollout(object Object) {
	rollout, isOne := object.(*ArgoRollout)
	if !isOne || rollout.Status.ObservedGeneration != "" || rollout.Status.Replicas != 0 {
		return
	}
	replicas := ptr.Deref(rollout.Spec.Replicas, 1)
	rollout.Status = ArgoRolloutStatus{
		ObservedGeneration: strconv.FormatInt(rollout.Generation, 10), Phase: argoHealthy,
		Replicas: replicas, UpdatedReplicas: replicas, AvailableReplicas: replicas,
	}
}

// argoFailed is the note of reasons that are read if the Rollout has failed.
const argoFailed = "while the phase is Degraded, or the Rollout is aborted"

// argoReasons are those of the controller of Argo Rollouts. The message about a failed Rollout quotes other reasons, too.
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
