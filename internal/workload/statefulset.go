// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"hash/fnv"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// statefulSets is the adapter of StatefulSets.
var statefulSets = Kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("StatefulSet"),
	Plural:           "StatefulSets", Resource: "statefulsets", Short: []string{"sts"},
	Template: []string{"spec", "template"},
	Traits:   Traits{ReportsByEvent: true},
	Defaults: Defaults{MaxUnavailable: "1"},
	Reasons:  statefulSetReasons,
	Revisions: &Revisions{
		Plural:  "ControllerRevisions",
		NewList: func() List { return &appsv1.ControllerRevisionList{} },
		Newest:  newestStatefulSetRevision,
		HasPod: func(object Object, revision metav1.Object, pod *corev1.Pod) bool {
			return metav1.IsControlledBy(pod, object) && pod.Labels[appsv1.ControllerRevisionHashLabelKey] == revision.GetName()
		},
	},
	New:     func() Object { return &appsv1.StatefulSet{} },
	NewList: func() List { return &appsv1.StatefulSetList{} },
	finish:  setFinishedStatefulSet,
	read:    readStatefulSet,

	strategy: statefulSetStrategy,
	completePod: func(pod *corev1.Pod, _ Object) {
		pod.Labels[appsv1.StatefulSetPodNameLabel], pod.Labels[appsv1.PodIndexLabel] = pod.Name, "0"
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = generatedSuffix
	},
}

// statefulSetStrategy returns how a StatefulSet replaces its pods. It never creates additional pods.
func statefulSetStrategy(object Object, pods int, defaults Defaults) Strategy {
	set, ok := object.(*appsv1.StatefulSet)
	if !ok {
		return Strategy{}
	}
	rolling := ptr.Deref(set.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateStatefulSetStrategy{})
	return Strategy{Unavailable: scaleValue(rolling.MaxUnavailable, defaults.MaxUnavailable, pods, true), Ready: time.Duration(set.Spec.MinReadySeconds) * time.Second}
}

// readStatefulSet returns the content of a StatefulSet, or false for other objects.
func readStatefulSet(object any) (Content, bool) {
	set, ok := object.(*appsv1.StatefulSet)
	if !ok || set == nil {
		return Content{}, false
	}
	content := Content{
		Template: &set.Spec.Template, Selector: set.Spec.Selector,
		Pods:     ptr.Deref(set.Spec.Replicas, 1),
		Observed: set.Status.ObservedGeneration >= set.Generation,
		Missing:  max(ptr.Deref(set.Spec.Replicas, 1)-set.Status.Replicas, 0),
		History:  ptr.Deref(set.Spec.RevisionHistoryLimit, unsetHistory),
	}
	for i := range set.Spec.VolumeClaimTemplates {
		content.Claims = append(content.Claims, set.Spec.VolumeClaimTemplates[i].Name)
	}
	content.Rollout, content.Progress = statefulSetProgress(set)
	return content, true
}

// statefulSetProgress returns the state and the progress of a StatefulSet's rollout. It counts the pods with
// the newest revision. currentRevision is not sufficient, because it becomes the newest revision only without
// OnDelete and without a partition, and only after all pods were ready.
func statefulSetProgress(set *appsv1.StatefulSet) (Rollout, Progress) {
	status, replicas := &set.Status, ptr.Deref(set.Spec.Replicas, 1)
	// All supported releases set availableReplicas.
	progress := Progress{ProgressCount: status.UpdatedReplicas + min(status.AvailableReplicas, status.UpdatedReplicas), Old: max(status.Replicas-status.UpdatedReplicas, 0)}
	progress.Newest, progress.IsDown = hashText(status.UpdateRevision), replicas > 0 && status.AvailableReplicas == 0
	if set.Spec.PodManagementPolicy != appsv1.ParallelPodManagement {
		progress.Advice = "the StatefulSet controller does not replace a pod that was never ready; after you fix the cause, delete that pod"
	}
	heldReason, heldPods := outdatedStatefulSetPods(set, replicas)
	progress.Evidence = minAvailableUpdated(status.UpdatedReplicas, status.AvailableReplicas, status.Replicas)
	if progress.Idle = idleReason(replicas); progress.Idle == "" && heldPods >= replicas {
		progress.Idle = heldReason
	}
	isShort := status.Replicas != replicas || status.AvailableReplicas < replicas
	isFinished := status.CurrentRevision == status.UpdateRevision
	switch {
	case status.ObservedGeneration < set.Generation:
		progress.ProgressCount, progress.Evidence = 0, 0 // These count pods of the previous template.
		return RolloutProgressing, progress
	case heldReason == "" && progress.Old > 0, heldReason != "" && progress.Old > heldPods:
		return RolloutProgressing, progress
	case isShort && isFinished:
		progress.MayContinue = true // The workload is new, or the rollout was finished, and pods are lost or the workload is scaled.
		return RolloutUnavailable, progress
	case isShort:
		return RolloutProgressing, progress
	case progress.Old > 0:
		progress.HeldReason = heldReason
		return PodsNotReplaced, progress
	}
	return RolloutComplete, progress
}

// outdatedStatefulSetPods returns the reason why the settings of a StatefulSet keep pods with an older template, and
// the maximum number of these pods. The reason is "" if the settings keep no such pods.
func outdatedStatefulSetPods(set *appsv1.StatefulSet, replicas int32) (heldReason string, heldPods int32) {
	strategy := &set.Spec.UpdateStrategy
	switch {
	case strategy.Type == appsv1.OnDeleteStatefulSetStrategyType:
		return heldOnDelete, replicas
	case strategy.RollingUpdate != nil && ptr.Deref(strategy.RollingUpdate.Partition, 0) > 0:
		partition := *strategy.RollingUpdate.Partition
		return fmt.Sprintf("updateStrategy has partition %d; pods below that ordinal keep their template", partition), partition
	}
	return "", 0
}

// hashText returns a 64-bit hash of a text.
func hashText(text string) uint64 {
	hash := fnv.New64a()
	_, _ = hash.Write([]byte(text))
	return hash.Sum64()
}

// newestStatefulSetRevision returns the StatefulSet's revision that its status names as the newest one, or nil for
// none.
func newestStatefulSetRevision(object Object, revisions []metav1.Object) metav1.Object {
	set, ok := object.(*appsv1.StatefulSet)
	for _, revision := range revisions {
		if ok && metav1.IsControlledBy(revision, object) && revision.GetName() == set.Status.UpdateRevision {
			return revision
		}
	}
	return nil
}

// setFinishedStatefulSet sets the status of a finished rollout on a StatefulSet that has no status.
func setFinishedStatefulSet(object Object) {
	set, ok := object.(*appsv1.StatefulSet)
	if !ok || set.Status.ObservedGeneration != 0 || set.Status.Replicas != 0 {
		return
	}
	replicas := ptr.Deref(set.Spec.Replicas, 1)
	set.Status = appsv1.StatefulSetStatus{
		ObservedGeneration: set.Generation,
		Replicas:           replicas, UpdatedReplicas: replicas, ReadyReplicas: replicas, AvailableReplicas: replicas,
	}
}

// statefulSetReasons are the reasons that the StatefulSet controller reports in warning events. It does not set
// conditions.
var statefulSetReasons = []ControllerReason{
	{"", failedCreate, meta.ReasonPodsRejected, "of a pod, or of a PersistentVolumeClaim"},
	{"", failedDelete, meta.ReasonPodsRejected, ""},
	{"", failedUpdate, meta.ReasonPodsRejected, ""},
	{"", "RecreatingFailedPod", meta.ReasonControllerWarning, "before Kubernetes 1.31"},
	{"", "ConflictingController", "", notABlock},
}
