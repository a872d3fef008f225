// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"kontroloop.ai/vector-sidecar-operator/internal/meta"
)

// jobs is the adapter of Jobs. The pod template of a Job cannot be changed, so the operator reports every selected Job
// as blocked.
var jobs = Kind{
	GroupVersionKind: batchv1.SchemeGroupVersion.WithKind("Job"),
	Plural:           "Jobs", Resource: "jobs",
	Template: []string{"spec", "template"},
	Traits: Traits{
		Immutable:        "inject the sidecar into the object that creates the Job, such as a CronJob, or into its manifest (kubectl vectorsidecar inject)",
		RunsToCompletion: true,
	},
	Reasons: jobReasons,
	New:     func() Object { return &batchv1.Job{} },
	NewList: func() List { return &batchv1.JobList{} },
	finish:  func(Object) {},
	read:    readJob,
}

// readJob returns the content of a Job, or false for other objects. It also reads a Job from its metadata alone.
func readJob(object any) (Content, bool) {
	if metadata, ok := object.(*metav1.PartialObjectMetadata); ok && metadata != nil && metadata.GroupVersionKind() == batchv1.SchemeGroupVersion.WithKind("Job") {
		return Content{Template: &corev1.PodTemplateSpec{}, Observed: true, Rollout: RolloutComplete}, !isGeneratedJob(metadata)
	}
	job, ok := object.(*batchv1.Job)
	if !ok || job == nil || isGeneratedJob(job) {
		return Content{}, false
	}
	return Content{Template: &job.Spec.Template, Selector: job.Spec.Selector, Observed: true, Rollout: RolloutComplete}, true
}

// isGeneratedJob reports whether a CronJob or the operator has created a Job. Such a Job is not a workload: it has the
// template of its CronJob, with the CronJob's sidecar, or it only runs Vector for the operator.
func isGeneratedJob(job metav1.Object) bool {
	owner := metav1.GetControllerOf(job)
	return owner != nil && owner.Kind == cronJobs.Kind || job.GetLabels()[meta.LabelValidation] != ""
}

// jobIsNotRead is the note of all reasons of Jobs.
const jobIsNotRead = "only the metadata of Jobs is read, because their pod template cannot be changed"

// jobReasons are the reasons of the Job controller.
var jobReasons = []ControllerReason{
	{"Suspended", "JobSuspended", "", jobIsNotRead},
	{"Suspended", "JobResumed", "", jobIsNotRead},
	{"SuccessCriteriaMet", "SuccessPolicy", "", jobIsNotRead},
	{"SuccessCriteriaMet", "CompletionsReached", "", jobIsNotRead},
	{"Complete", "SuccessPolicy", "", jobIsNotRead},
	{"Complete", "CompletionsReached", "", jobIsNotRead},
	{"FailureTarget", "PodFailurePolicy", "", jobIsNotRead},
	{"FailureTarget", "BackoffLimitExceeded", "", jobIsNotRead},
	{"FailureTarget", "DeadlineExceeded", "", jobIsNotRead},
	{"FailureTarget", "MaxFailedIndexesExceeded", "", jobIsNotRead},
	{"FailureTarget", "FailedIndexes", "", jobIsNotRead},
	{"Failed", "PodFailurePolicy", "", jobIsNotRead},
	{"Failed", "BackoffLimitExceeded", "", jobIsNotRead},
	{"Failed", "DeadlineExceeded", "", jobIsNotRead},
	{"Failed", "MaxFailedIndexesExceeded", "", jobIsNotRead},
	{"Failed", "FailedIndexes", "", jobIsNotRead},
}
