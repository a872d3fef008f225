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

// Kind contains the properties of one kind of workload, and the functions that handle it.
type Kind struct {
	schema.GroupVersionKind
	// Plural is the plural that messages show. Resource is the plural in URLs and RBAC rules.
	Plural, Resource string
	// Dependents is the plural, in messages, of the objects that the controller of the kind creates. It is "" for pods.
	Dependents string
	// Short are the short names of the kind in kubectl, in lower case.
	Short []string
	// Annotations is the prefix of the annotations that the controller of the kind writes on the workload, or "" for
	// none.
	Annotations string
	// Template is the path of the pod template in the workload.
	Template []string
	// Traits are the properties that differ between kinds.
	Traits Traits
	// Defaults are the values of fields that a workload does not set.
	Defaults Defaults
	// Reasons are all reasons that the controller sets in conditions and warning events, in the order of
	// docs/reference/reasons.md.
	Reasons []ControllerReason
	// Revisions identifies the pods with the newest template. It is nil for kinds of which the operator does not read
	// pods.
	Revisions *Revisions

	// New and NewList return an empty object and an empty list.
	New     func() Object
	NewList func() List
	// strategy returns how a rollout replaces the pods of a workload with this number of pods. It is nil for kinds with
	// rollouts that do not replace pods.
	strategy func(object Object, pods int, defaults Defaults) Strategy
	// completePod adds the fields to a pod, such as labels, that the controller of the kind adds to the pods that it
	// creates. The pod already has a name.
	completePod func(pod *corev1.Pod, object Object)
	// finish sets the status of a finished rollout on a workload without a status.
	finish func(Object)
	// eventsSince returns the time of the oldest events that concern the current state of a workload. If eventsSince is
	// nil, this is the time of the newest revision.
	eventsSince func(Object) time.Time
	// read returns the content of a workload. It returns false for an object of another kind.
	read func(any) (Content, bool)
}

// Defaults are the values that fields have if a workload does not set them. They are needed for workloads from
// manifests, and for custom resources, to which the API server adds no defaults.
type Defaults struct {
	// MaxSurge and MaxUnavailable are the defaults of the limits of a rolling update.
	MaxSurge, MaxUnavailable string
	// Container are the defaults of container fields that the CustomResourceDefinition of a custom resource
	// sets.
	Container []FieldDefault
}

// FieldDefault is the default of the field at a path, in which * stands for each item of a list. It applies only if the
// parent of the field exists.
type FieldDefault struct {
	Path  []string
	Value any
}

// Traits are the properties that differ between kinds.
type Traits struct {
	// Immutable explains how users add the sidecar to workloads of a kind with a pod template that cannot be changed.
	// It is "" for all other kinds.
	Immutable string
	// RunsToCompletion reports whether the pods end after their work, so that the sidecar must also end.
	RunsToCompletion bool
	// HasDeadline reports whether the status of a workload shows that a rollout has missed its deadline.
	HasDeadline bool
	// OnEveryNode reports whether a workload runs a pod on every node, so that two such workloads cannot use the same
	// port of the node.
	OnEveryNode bool
	// ReportsByEvent reports whether the controller reports its errors only in events, and not in the status.
	ReportsByEvent bool
	// AtomicLists reports whether server-side apply treats the lists of the pod as single values, each with one owner.
	// An annotation of the pod template then records the operator's items, because managedFields cannot. The operator
	// writes such workloads with JSON patches that test the items before they change them.
	AtomicLists bool
	// Refers reports whether a workload of the kind may run the pods of another workload, with the other workload's pod
	// template.
	Refers bool
	// OptionalAPI reports whether the API of the kind may be missing in a cluster.
	OptionalAPI bool
}

// Revisions describes the objects that contain the revisions of a workload's pod template.
type Revisions struct {
	// Plural is the plural of the objects in messages.
	Plural string
	// NewList returns an empty list of revisions.
	NewList func() List
	// Newest returns the workload's current revision, or nil if the list does not contain the current revision.
	Newest func(object Object, revisions []metav1.Object) metav1.Object
	// HasPod reports whether a pod belongs to a revision.
	HasPod func(object Object, revision metav1.Object, pod *corev1.Pod) bool
}

// IsMissingAPI reports whether a request failed because the cluster does not have the API of an optional kind.
func (k *Kind) IsMissingAPI(err error) bool {
	return k.Traits.OptionalAPI && (apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err))
}

// NewWatchObject returns an empty object for watching the kind. For a kind with an immutable template, the
// object has only metadata, because the operator never writes such workloads.
func (k *Kind) NewWatchObject() Object {
	if k.Traits.Immutable == "" {
		return k.New()
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(k.GroupVersionKind)
	return metadata
}

// Content contains the properties that all kinds of workloads have in common.
type Content struct {
	Kind *Kind
	// Template and Selector are shared with the workload, and must not be changed.
	Template *corev1.PodTemplateSpec
	Selector *metav1.LabelSelector
	// Pods is the number of pods that a change of the template restarts.
	Pods int32
	// Missing is the number of pods that the workload's controller has not created yet.
	Missing int32
	// Refers identifies the other workload from which this workload gets its pod template. It is nil if the workload
	// has a pod template itself.
	Refers *Reference
	// Unread describes the fields that could not be decoded.
	Unread Unread
	// Claims are the names of volumes that the pods get from volumeClaimTemplates and not from the pod
	// template.
	Claims []string
	// Paused reports whether a user has paused the workload's rollouts; the operator then does not write it. Observed
	// reports whether the status is for the newest generation.
	Paused, Observed bool
	// Rollout is the state of the rollout. RolledOut is the time when the rollout finished, or zero if it is in
	// progress or the workload does not record that time.
	Rollout   Rollout
	RolledOut time.Time
	Progress
	// Refusal describes the request of the workload's controller that the API server has rejected, or is "" for none.
	Refusal string
	// History is the workload's revisionHistoryLimit, or unsetHistory if the workload does not set the limit.
	History int32
	// Remark is a hint for users who add a sidecar to the workload, or "" for none.
	Remark string
}

// Reference names another workload in the same namespace.
type Reference struct {
	Kind, Name string
	// ObservedGeneration is the generation of the other workload for which the status is, or 0 if it is unknown.
	ObservedGeneration int64
}

// String returns the kind and the name of the workload, for messages.
func (r *Reference) String() string { return r.Kind + " " + r.Name }

// Progress contains how far a rollout is, and why it does not continue.
type Progress struct {
	// ProgressCount is the number of pods with the newest template plus the number of these pods that are available.
	// During a rollout, it grows.
	ProgressCount int32
	// Evidence is the minimum number of available pods with the newest template according to the status. For a
	// CronJob, Evidence is 1 if the newest run has the template and has succeeded.
	Evidence int32
	// Missed identifies a missed progress deadline by the time when the controller found it, in Unix seconds. It is 0
	// if the status does not contain a missed deadline.
	Missed uint32
	// Old is the number of pods with an older template. HeldReason explains why the workload keeps these pods; it is ""
	// unless the rollout is PodsNotReplaced.
	Old        int32
	HeldReason string
	// Newest identifies the newest template that the workload's controller has observed. It is 0 for kinds with a
	// status that shows the end of a rollout.
	Newest uint64
	// Idle explains why the workload does not start pods, or is "" if it starts pods.
	Idle string
	// FailureCause explains why the rollout has failed. It is "" if the rollout has missed its deadline.
	FailureCause string
	// Advice is the next step for the user after a failed rollout, or "" for no specific step.
	Advice string
	// IsByRuns is true if the workload runs pods that end, as a CronJob does. Evidence then stays valid after the pods
	// have ended.
	IsByRuns bool
	// MayContinue is true if pods are missing and the status does not show why. If they have been missing since the
	// start of the rollout, the rollout is still in progress.
	MayContinue bool
	// IsHeldByWrite is true if the rollout is PodsNotReplaced only because the last run was before the operator's last
	// write, which may have changed only annotations.
	IsHeldByWrite bool
	// IsDown is true if fewer pods are available than a rolling update would keep available.
	IsDown bool
	// IsBetween is true if a rollout in steps is in progress. A new template would restart the steps.
	IsBetween bool
}

// Rollout is the state of a workload's rollout.
type Rollout string

const (
	// RolloutComplete means that all pods run the current template and are available.
	RolloutComplete Rollout = "Complete"
	// RolloutProgressing means that pods are being replaced, or are not available yet.
	RolloutProgressing Rollout = "Progressing"
	// RolloutUnavailable means that the rollout has finished, but some pods are not available.
	RolloutUnavailable Rollout = "Unavailable"
	// PodsNotReplaced means that the workload has the current template, but that its settings keep some pods with an
	// older template. All other pods are available.
	PodsNotReplaced Rollout = "Held"
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)
