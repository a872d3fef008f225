// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// daemonSets is the adapter of DaemonSets.
var daemonSets = Kind{
	GroupVersionKind: appsv1.SchemeGroupVersion.WithKind("DaemonSet"),
	Plural:           "DaemonSets", Resource: "daemonsets", Short: []string{"ds"},
	Annotations: "deprecated.daemonset.",
	Template:    []string{"spec", "template"},
	Traits:      Traits{ReportsByEvent: true, OnEveryNode: true},
	Defaults:    Defaults{MaxSurge: "0", MaxUnavailable: "1"},
	Reasons:     daemonSetReasons,
	Revisions: &Revisions{
		Plural:  "ControllerRevisions",
		NewList: func() List { return &appsv1.ControllerRevisionList{} },
		Newest:  newestDaemonSetRevision,
		HasPod: func(object Object, revision metav1.Object, pod *corev1.Pod) bool {
			const hash = appsv1.ControllerRevisionHashLabelKey
			return metav1.IsControlledBy(pod, object) && pod.Labels[hash] == revision.GetLabels()[hash]
		},
	},
	New:     func() Object { return &appsv1.DaemonSet{} },
	NewList: func() List { return &appsv1.DaemonSetList{} },
	finish:  setFinishedDaemonSet,
	read:    readDaemonSet,

	strategy: daemonSetStrategy,
	completePod: func(pod *corev1.Pod, _ Object) {
		pod.Labels[appsv1.ControllerRevisionHashLabelKey], pod.Labels["pod-template-generation"] = generatedSuffix, "1"
	},
}

// daemonSetStrategy returns how a DaemonSet replaces its pods.
func daemonSetStrategy(object Object, pods int, defaults Defaults) Strategy {
	set, ok := object.(*appsv1.DaemonSet)
	if !ok {
		return Strategy{}
	}
	rolling := ptr.Deref(set.Spec.UpdateStrategy.RollingUpdate, appsv1.RollingUpdateDaemonSet{})
	return Strategy{
		Surge: scaleValue(rolling.MaxSurge, defaults.MaxSurge, pods, true), Unavailable: scaleValue(rolling.MaxUnavailable, defaults.MaxUnavailable, pods, true),
		Ready: time.Duration(set.Spec.MinReadySeconds) * time.Second,
	}
}

// readDaemonSet returns the content of a DaemonSet, or false for other objects.
func readDaemonSet(object any) (Content, bool) {
	set, ok := object.(*appsv1.DaemonSet)
	if !ok || set == nil {
		return Content{}, false
	}
	content := Content{
		Template: &set.Spec.Template, Selector: set.Spec.Selector,
		Pods:     set.Status.DesiredNumberScheduled,
		Observed: set.Status.ObservedGeneration >= set.Generation,
		Missing:  max(set.Status.DesiredNumberScheduled-set.Status.CurrentNumberScheduled, 0),
		History:  ptr.Deref(set.Spec.RevisionHistoryLimit, unsetHistory),
	}
	content.Rollout, content.Progress = daemonSetProgress(set)
	return content, true
}

// daemonSetProgress returns the state and the progress of a DaemonSet's rollout, from its status.
func daemonSetProgress(set *appsv1.DaemonSet) (Rollout, Progress) {
	status := &set.Status
	progress := Progress{
		ProgressCount: status.UpdatedNumberScheduled + min(status.NumberAvailable, status.UpdatedNumberScheduled),
		Newest:        1, // The status does not name the template, and several generations may have the same template.
		Old:           max(status.CurrentNumberScheduled-status.UpdatedNumberScheduled, 0),
		IsDown:        status.DesiredNumberScheduled > 0 && status.NumberAvailable == 0,
	}
	progress.Evidence = minAvailableUpdated(status.UpdatedNumberScheduled, status.NumberAvailable, status.CurrentNumberScheduled)
	isOnDelete := set.Spec.UpdateStrategy.Type == appsv1.OnDeleteDaemonSetStrategyType
	isObserved := status.ObservedGeneration >= set.Generation
	switch {
	case isOnDelete:
		progress.Idle = heldOnDelete
	case isObserved && status.DesiredNumberScheduled == 0 && status.CurrentNumberScheduled == 0:
		progress.Idle = "no node runs pods of the DaemonSet"
	}
	switch {
	case !isObserved:
		progress.ProgressCount, progress.Evidence = 0, 0 // These count pods of the previous template.
		return RolloutProgressing, progress
	case progress.Old > 0 && !isOnDelete:
		return RolloutProgressing, progress
	case status.NumberAvailable < status.DesiredNumberScheduled:
		progress.MayContinue = true // The other cause is a new or removed node.
		return RolloutUnavailable, progress
	case progress.Old > 0:
		progress.HeldReason = heldOnDelete
		return PodsNotReplaced, progress
	}
	return RolloutComplete, progress
}

// newestDaemonSetRevision returns the revision with the highest number. The status does not name the current revision,
// but an undo gives the restored revision the highest number.
func newestDaemonSetRevision(object Object, revisions []metav1.Object) metav1.Object {
	var newest *appsv1.ControllerRevision
	for _, candidate := range revisions {
		revision, ok := candidate.(*appsv1.ControllerRevision)
		if ok && metav1.IsControlledBy(revision, object) && (newest == nil || revision.Revision > newest.Revision) {
			newest = revision
		}
	}
	if newest == nil {
		return nil
	}
	return newest
}

// setFinishedDaemonSet sets the status of a DaemonSet from a file: one available pod and 0 desired pods. A file does
// not contain the number of nodes, and a DaemonSet without nodes is rare.
func setFinishedDaemonSet(object Object) {
	if set, ok := object.(*appsv1.DaemonSet); ok && set.Status.ObservedGeneration == 0 {
		set.Status.ObservedGeneration = set.Generation
		set.Status.CurrentNumberScheduled, set.Status.UpdatedNumberScheduled = 1, 1
		set.Status.NumberReady, set.Status.NumberAvailable = 1, 1
	}
}

// daemonSetReasons are the reasons that the DaemonSet controller reports in warning events. It does not set conditions.
var daemonSetReasons = []ControllerReason{
	{"", failedCreate, meta.ReasonPodsRejected, ""},
	{"", failedDelete, meta.ReasonPodsRejected, ""},
	{"", "FailedDaemonPod", meta.ReasonControllerWarning, ""},
	{"", "FailedPlacement", meta.ReasonUnschedulable, ""},
	{"", "SelectingAll", "", rejects},
}
