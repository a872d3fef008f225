// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Object is a workload of one of the Kinds.
type Object interface {
	metav1.Object
	runtime.Object
}

// List is a list of workloads of one of the Kinds.
type List interface {
	metav1.ListInterface
	runtime.Object
}

// Kind contains the properties and functions that are specific to one kind of workload.
type Kind struct {
	schema.GroupVersionKind
	// Plural is the name in messages. Resource is for URLs and RBAC rules.
	Plural, Resource string
	// Dependents is the kind of objects that the controller creates, for messages, or "" for pods.
	Dependents string
	// Short are kubectl's short names, in lower case.
	Short []string
	// Annotations is the prefix of the annotations that the controller writes on the workload, or "" for none.
	Annotations string
	// Template is the path to the pod template.
	Template []string
	// Traits are the differences from other kinds.
	Traits Traits
	// Defaults are the values of fields that an object does not set.
	Defaults Defaults
	// Reasons are all reasons that the controller sets, in the order of docs/reasons.md.
	Reasons []ControllerReason
	// Revisions finds the pods with the newest template. It is nil if pods are not read.
	Revisions *Revisions

	// New and NewList return an empty object and an empty list.
	New     func() Object
	NewList func() List
	// strategy returns how a rollout replaces a number of pods. It is nil if a rollout does not replace pods.
	strategy func(object Object, pods int, defaults Defaults) Strategy
	// completePod adds the fields to a pod that the controller adds to the template, such as labels. The pod has a
	// name.
	completePod func(pod *corev1.Pod, object Object)
	// finish sets the status of a finished rollout if the workload has no status.
	finish func(Object)
	// eventsSince returns the time since when events concern the current state of a workload. It is nil for the
	// time of the newest revision.
	eventsSince func(Object) time.Time
	// read returns false for an object of another kind.
	read func(any) (Content, bool)
}

// Defaults are the values of fields that an object does not set: manifests do not set them, and for custom resources
// the API server does not set them either.
type Defaults struct {
	// MaxSurge and MaxUnavailable limit a rolling update.
	MaxSurge, MaxUnavailable string
	// Container are the defaults in the definition of a custom resource.
	Container []FieldDefault
}

// FieldDefault is the default of a field. In a path, * stands for the items of a list. A default applies only
// if the parent of the field exists.
type FieldDefault struct {
	Path  []string
	Value any
}

// Traits are the differences of a kind from other kinds.
type Traits struct {
	// Immutable explains how users can proceed if the pod template cannot be changed. It is "" if the template
	// can be changed.
	Immutable string
	// RunsToCompletion reports whether the pods end after their work, so that a sidecar must end with them.
	RunsToCompletion bool
	// HasDeadline reports whether the status contains the failure of a rollout.
	HasDeadline bool
	// OnEveryNode reports whether the pods share nodes with the pods of every other workload of such a kind, so
	// that no two of these workloads can use the same port of the node.
	OnEveryNode bool
	// ReportsByEvent reports whether only events contain the reason why the controller cannot continue.
	ReportsByEvent bool
	// AtomicLists reports whether server-side apply treats a list of the pod as one value with one owner. The
	// pod template, and not managedFields, then records the items of the operator. Patches that test the items
	// before they change them write the sidecar.
	AtomicLists bool
	// Refers reports whether workloads of the kind may run the pods of another workload, with the pod template
	// of the other workload.
	Refers bool
	// OptionalAPI reports whether a cluster may lack the API of the kind.
	OptionalAPI bool
}

// Revisions describes the objects that contain the revisions of a workload's pod template.
type Revisions struct {
	// Plural is the name in messages.
	Plural string
	// NewList returns an empty list of revisions.
	NewList func() List
	// Newest returns the workload's current revision among several revisions, or nil if it is not among them.
	Newest func(object Object, revisions []metav1.Object) metav1.Object
	// HasPod reports whether a pod belongs to a revision.
	HasPod func(object Object, revision metav1.Object, pod *corev1.Pod) bool
}

// IsMissingAPI reports whether an error of a request means that the cluster lacks the API of a kind that may be
// missing.
func (k *Kind) IsMissingAPI(err error) bool {
	return k.Traits.OptionalAPI && (apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err))
}

// NewWatchObject returns an empty object for watching the kind. For a kind that is never written, it has only
// metadata.
func (k *Kind) NewWatchObject() Object {
	if k.Traits.Immutable == "" {
		return k.New()
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(k.GroupVersionKind)
	return metadata
}

// Content contains the common properties of workloads of all kinds.
type Content struct {
	Kind *Kind
	// Template and Selector belong to the workload. They are not copies.
	Template *corev1.PodTemplateSpec
	Selector *metav1.LabelSelector
	// Pods is the number of pods that a change of the template restarts.
	Pods int32
	// Missing is the number of missing pods.
	Missing int32
	// Refers names the workload that has the pod template instead, or is nil for none.
	Refers *Reference
	// Unread lists the fields that could not be decoded.
	Unread Unread
	// Claims are the names of the volumes that are not in the template.
	Claims []string
	// Paused reports whether the workload must not be written. Observed reports whether the controller has
	// observed the newest generation.
	Paused, Observed bool
	// Rollout is the state of the rollout. RolledOut is the time when it finished. It is zero while the rollout
	// is in progress, or if the workload does not record it.
	Rollout   Rollout
	RolledOut time.Time
	Progress
	// Refusal describes a request of the controller that the API server rejects, or is "" for none.
	Refusal string
	// History is the workload's revisionHistoryLimit, unsetHistory if it has none.
	History int32
	// Remark is information about the workload that users of a sidecar in it should know, or "" for none.
	Remark string
}

// Reference names another workload of the namespace.
type Reference struct {
	Kind, Name string
	// ObservedGeneration is the generation of the other workload that the controller has observed.
	ObservedGeneration int64
}

// String returns the reference for messages.
func (r *Reference) String() string { return r.Kind + " " + r.Name }

// Progress is the progress of a rollout.
type Progress struct {
	// ProgressCount is the number of pods with the newest template, plus the number of these pods that are available. It
	// grows during the rollout.
	ProgressCount int32
	// Evidence is the number of available pods with the newest template, if the status is certain. For a
	// CronJob it is 1 if its newest run has the template and has succeeded.
	Evidence int32
	// Missed distinguishes the times at which the controller found that the progress deadline had passed. It is
	// 0 if the status does not contain the time.
	Missed uint32
	// Old is the number of pods with another template than the newest. Held explains for messages why they are
	// not replaced. It is "" unless the rollout is PodsNotReplaced.
	Old        int32
	HeldReason string
	// Newest identifies the newest template that the controller knows. It is 0 for kinds with a status that
	// contains the end of a rollout.
	Newest uint64
	// Idle explains why the workload does not start pods with another template, or is "" if it does.
	Idle string
	// FailureCause explains why the rollout has failed, or is "" if a deadline has passed.
	FailureCause string
	// Advice is the action of a user after a failed rollout, or "" for no specific action.
	Advice string
	// IsByRuns reports whether pods run the template and then end, so that evidence remains after them.
	IsByRuns bool
	// MayContinue reports whether pods are missing for an unknown time. If they are missing since the rollout, the
	// rollout is still in progress.
	MayContinue bool
	// IsHeldByWrite reports whether PodsNotReplaced follows only from the time of the operator's last write,
	// which may have changed only annotations.
	IsHeldByWrite bool
	// IsDown reports whether fewer pods are available than a rolling update keeps available, so that the
	// workload does not work.
	IsDown bool
	// IsBetween reports whether the workload is in a stepwise rollout between two templates, which another
	// template would restart.
	IsBetween bool
}

// Rollout is the state of a workload's rollout.
type Rollout string

const (
	// RolloutComplete means that all pods run the current template and are available.
	RolloutComplete Rollout = "Complete"
	// RolloutProgressing means that pods are being replaced, or are not available yet.
	RolloutProgressing Rollout = "Progressing"
	// RolloutUnavailable means that the rollout has finished, but pods are not available yet or anymore.
	RolloutUnavailable Rollout = "Unavailable"
	// PodsNotReplaced means that the workload has the template, that its settings keep pods with an older
	// template, and that all other pods are available.
	PodsNotReplaced Rollout = "Held"
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)
