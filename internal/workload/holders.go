// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"reflect"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"kontroloop.ai/vector-sidecar-operator/internal/bounded"
)

// Holder is a kind of object that contains a copy of a workload's pod template: a revision, to which a rollback may
// return, or a Job, which may still start pods.
type Holder struct {
	// Plural is the name in messages. Group and Resource are for RBAC rules.
	Plural, Group, Resource string
	// NewList returns an empty list.
	NewList func() List
	// kinds are the kinds of workloads that create these objects.
	kinds []*Kind
	// Starts is true if objects of this kind start pods without the workload, as Jobs do.
	Starts bool
}

// holders lists the kinds of objects that contain a copy of a pod template.
var holders = []Holder{
	{"ReplicaSets", appsv1.GroupName, "replicasets", func() List { return &appsv1.ReplicaSetList{} }, []*Kind{&deployments, &argoRollouts}, false},
	{"ControllerRevisions", appsv1.GroupName, "controllerrevisions", func() List { return &appsv1.ControllerRevisionList{} }, []*Kind{&statefulSets, &daemonSets}, false},
	{"Jobs", batchv1.GroupName, "jobs", func() List { return &batchv1.JobList{} }, []*Kind{&cronJobs, &jobs}, true},
}

// HoldersFor returns the kinds of objects that contain copies of the pod templates of the given kinds of workloads.
func HoldersFor(workloadKinds []*Kind) []Holder {
	var matches []Holder
	for _, holder := range holders {
		if slices.ContainsFunc(holder.kinds, func(kind *Kind) bool { return slices.Contains(workloadKinds, kind) }) {
			matches = append(matches, holder)
		}
	}
	return matches
}

// CountedHolder returns the kind of revisions that a ResourceQuota limits by a resource name, such as
// count/replicasets.apps. ok is false for other resource names.
func CountedHolder(name corev1.ResourceName) (holder Holder, ok bool) {
	for _, holder := range holders {
		if !holder.Starts && string(name) == "count/"+holder.Resource+"."+holder.Group {
			return holder, true
		}
	}
	return Holder{}, false
}

// controllerLabels are the labels that controllers add to the pod template of a ReplicaSet.
var controllerLabels = []string{"pod-template-hash", "rollouts-pod-template-hash"}

// SharesTemplate reports whether an object of a Holder kind has the current pod template of a workload, so that the
// workload's controller uses it and does not create another one.
func SharesTemplate(object, workloadObject Object) bool {
	owner, ref := metav1.GetControllerOf(object), NewRef(workloadObject)
	if owner == nil || object.GetNamespace() != ref.Namespace || owner.Kind != ref.Kind || owner.Name != ref.Name || ref.UID != "" && owner.UID != ref.UID {
		return false
	}
	template, ok := templateIn(object)
	if !ok {
		return false
	}
	heldTemplate := template.DeepCopy()
	for _, label := range controllerLabels {
		delete(heldTemplate.Labels, label)
	}
	live, err := runtime.DefaultUnstructuredConverter.ToUnstructured(heldTemplate)
	if err != nil {
		return false
	}
	desired, err := runtime.DefaultUnstructuredConverter.ToUnstructured(PodTemplate(workloadObject))
	return err == nil && isDefaulted("", live, desired)
}

// PodSpecFor returns the pod spec in an object of a Holder kind. It returns false if the object cannot be read,
// or is a Job that has ended.
func PodSpecFor(object runtime.Object) (*corev1.PodSpec, bool) {
	template, ok := templateIn(object)
	if job, isJob := object.(*batchv1.Job); !ok || isJob && hasJobEnded(job) {
		return nil, false
	}
	return &template.Spec, true
}

// templateIn returns the pod template in an object of a Holder kind. It returns false if the object has no
// template or cannot be read.
func templateIn(object runtime.Object) (*corev1.PodTemplateSpec, bool) {
	switch holder := object.(type) {
	case *appsv1.ReplicaSet:
		return &holder.Spec.Template, true
	case *batchv1.Job:
		return &holder.Spec.Template, true
	case *appsv1.ControllerRevision:
		// The data of a ControllerRevision is a patch of the workload that replaces spec.template.
		var data struct {
			Spec struct{ Template corev1.PodTemplateSpec }
		}
		if bounded.Object().DecodeJSON(holder.Data.Raw, &data) != nil || reflect.ValueOf(data.Spec.Template).IsZero() {
			return nil, false
		}
		return &data.Spec.Template, true
	}
	return nil, false
}

// hasJobEnded reports whether a Job has finished and starts no more pods.
func hasJobEnded(job *batchv1.Job) bool {
	return job.DeletionTimestamp != nil || slices.ContainsFunc(job.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed)
	})
}
