// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"fmt"
	"strings"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// cronJobs is the adapter of CronJobs. A change of the template does not restart pods, because only the next
// run uses the new template.
var cronJobs = Kind{
	GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("CronJob"),
	Plural:           "CronJobs", Resource: "cronjobs", Short: []string{"cj"},
	Template: []string{"spec", "jobTemplate", "spec", "template"},
	Traits:   Traits{RunsToCompletion: true, ReportsByEvent: true},
	Reasons:  cronJobReasons,
	New:      func() Object { return &batchv1.CronJob{} },
	NewList:  func() List { return &batchv1.CronJobList{} },
	finish:   func(Object) {},
	read:     readCronJob,

	Dependents: "Jobs", eventsSince: lastRunTime,

	completePod: func(pod *corev1.Pod, object Object) {
		pod.Labels[batchv1.JobNameLabel], pod.Labels[batchv1.ControllerUidLabel] = pod.Name, string(object.GetUID())
		setCreatedOwner(pod, object, batchv1.SchemeGroupVersion.WithKind("Job"))
	},
}

// readCronJob returns the content of a CronJob, or false for other objects. The rollout of a CronJob is PodsNotReplaced
// from a write of the operator until the first run after it.
func readCronJob(object any) (Content, bool) {
	job, ok := object.(*batchv1.CronJob)
	if !ok || job == nil {
		return Content{}, false
	}
	content := Content{Template: &job.Spec.JobTemplate.Spec.Template, Observed: true, Rollout: RolloutComplete}
	content.Remark = failurePolicyRemark(job.Spec.JobTemplate.Spec.PodFailurePolicy)
	content.IsByRuns, content.Idle = true, "the next run uses the new template"
	if ptr.Deref(job.Spec.Suspend, false) {
		content.Idle = "the CronJob is suspended; its next run uses the new template"
	}
	written, scheduled := lastWriteTime(job), job.Status.LastScheduleTime
	if !written.IsZero() && (scheduled == nil || !scheduled.After(written)) {
		content.Rollout, content.IsHeldByWrite, content.HeldReason = PodsNotReplaced, true, content.Idle
		content.Old = int32(len(job.Status.Active)) //nolint:gosec // The controller starts few at once.
		return content, true
	}
	switch succeeded := job.Status.LastSuccessfulTime; {
	case scheduled == nil: // The CronJob has never run.
	case succeeded != nil && !succeeded.Before(scheduled):
		content.Evidence = 1
	default:
		content.Idle = "no run with the sidecar has succeeded yet"
	}
	return content, true
}

// lastWriteTime returns the time of the last write by one of the operator's managers, in whole seconds. It is zero if
// no manager has written the object.
func lastWriteTime(object metav1.Object) (last time.Time) {
	entries := object.GetManagedFields()
	for i := range entries {
		if entry := &entries[i]; isOperatorEntry(entry) && entry.Time != nil && entry.Time.After(last) {
			last = entry.Time.Time
		}
	}
	return last
}

// failurePolicyRemark returns a remark about the rules of a podFailurePolicy that also apply to the sidecar's exit
// code, because they do not name a container. It returns "" if the policy does not have such rules.
func failurePolicyRemark(policy *batchv1.PodFailurePolicy) string {
	if policy == nil {
		return ""
	}
	var rules []string
	for i := range policy.Rules {
		if codes := policy.Rules[i].OnExitCodes; codes != nil && codes.ContainerName == nil {
			rules = append(rules, fmt.Sprintf("rules.%d (%s)", i, policy.Rules[i].Action))
		}
	}
	if len(rules) == 0 {
		return ""
	}
	return "podFailurePolicy: " + strings.Join(rules, ", ") + ": onExitCodes without containerName also applies to the exit code of the sidecar; set containerName to the application's container"
}

// cronJobReasons are the reasons that the CronJob controller reports in warning events. It does not set conditions.
var cronJobReasons = []ControllerReason{
	{"", failedCreate, meta.ReasonPodsRejected, "of a Job"},
	{"", "FailedGet", meta.ReasonControllerWarning, "of a Job that it replaces"},
	{"", "InvalidSchedule", meta.ReasonControllerWarning, ""},
	{"", "UnparseableSchedule", meta.ReasonControllerWarning, ""},
	{"", "UnParseableCronJobSchedule", meta.ReasonControllerWarning, ""},
	{"", "UnknownTimeZone", meta.ReasonControllerWarning, ""},
	{"", "TooManyMissedTimes", meta.ReasonControllerWarning, ""},
	{"", "MissSchedule", meta.ReasonControllerWarning, ""},
	{"", failedDelete, "", "of a Job that is finished: " + notABlock},
	{"", "UnexpectedJob", "", notABlock},
	{"", "UnsupportedSchedule", "", notABlock},
}

// lastRunTime returns the time when a CronJob last started a Job, or the CronJob's creation time if it has
// never run. Earlier events do not concern the next run.
func lastRunTime(object Object) time.Time {
	if job, ok := object.(*batchv1.CronJob); ok && job.Status.LastScheduleTime != nil {
		return job.Status.LastScheduleTime.Time
	}
	return object.GetCreationTimestamp().Time
}
