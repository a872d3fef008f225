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

// Kind is everything specific to one kind of workload.
type Kind struct {
	schema.GroupVersionKind
	// Plural is for messages, Resource for URLs and RBAC rules.
	Plural, Resource string
	// Dependents are the objects that its controller makes, for messages; "" for pods.
	Dependents string
	// Short are kubectl's short names, in lower case.
	Short []string
	// Annotations is the prefix of the annotations that its controller writes on the
	// workload, "" if it writes none.
	Annotations string
	// Template is the path to the pod template.
	Template []string
	// Traits are how it differs from other kinds.
	Traits Traits
	// Defaults are the values of fields that an object does not set.
	Defaults Defaults
	// Reasons are all that its controller sets, in the order of docs/reasons.md.
	Reasons []ControllerReason
	// Revisions says which pods have the newest template; nil if pods are not read.
	Revisions *Revisions

	// New and NewList return empty ones.
	New     func() Object
	NewList func() List
	// strategy returns how a rollout replaces some pods; nil if none are.
	strategy func(of Object, pods int, defaults Defaults) Strategy
	// give adds to a pod what its controller gives it besides the template, such as labels. The pod
	// has a name.
	give func(to *corev1.Pod, of Object)
	// finish sets the status of a finished rollout if the workload has no status.
	finish func(Object)
	// eventsSince returns the time from which events are about a workload as it is; nil for the time of its newest revision.
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

// FieldDefault is the default of a field. In a path * stands for the items of a list. A default applies only
// where the parent of the field exists.
type FieldDefault struct {
	Path  []string
	Value any
}

// Traits are how a kind differs from others.
type Traits struct {
	// Immutable says what to do because the pod template cannot be changed, "" if it can.
	Immutable string
	// Ends reports whether its pods end by themselves, so that a sidecar must end with
	// them.
	Ends bool
	// HasDeadline reports whether its status says when a rollout has failed.
	HasDeadline bool
	// OnEveryNode reports whether its pods share nodes with those of every other workload
	// of such a kind, so that no two of them can have the same port of the node.
	OnEveryNode bool
	// TellsByEvent reports whether events alone say what keeps its controller from working.
	TellsByEvent bool
	// AtomicLists reports whether server-side apply takes a list of its pod for one value
	// with one owner. What is ours is then recorded in the pod template and not in
	// managedFields, and is written by patches that test what they change.
	AtomicLists bool
	// Refers reports whether it may run the pods of another workload, which has their
	// template.
	Refers bool
	// MayLack reports whether a cluster may lack its API.
	MayLack bool
}

// Revisions are the objects that hold the revisions of a workload's pod template.
type Revisions struct {
	// Plural names them in messages.
	Plural string
	// NewList returns an empty list of them.
	NewList func() List
	// Newest returns the workload's current revision out of some, nil if it is not among
	// them.
	Newest func(of Object, all []metav1.Object) metav1.Object
	// Has reports whether a pod is of a revision.
	Has func(of Object, revision metav1.Object, pod *corev1.Pod) bool
}

// Lacks reports whether an error of a request says that the cluster lacks the kind's API,
// as it may.
func (k *Kind) Lacks(err error) bool {
	return k.Traits.MayLack && (apimeta.IsNoMatchError(err) || apierrors.IsNotFound(err))
}

// Watched returns an empty object to watch the kind by: of one that is never written, the
// metadata alone.
func (k *Kind) Watched() Object {
	if k.Traits.Immutable == "" {
		return k.New()
	}
	metadata := &metav1.PartialObjectMetadata{}
	metadata.SetGroupVersionKind(k.GroupVersionKind)
	return metadata
}

// Content is what workloads of all kinds have in common.
type Content struct {
	Kind *Kind
	// Template and Selector are the workload's own, not copies.
	Template *corev1.PodTemplateSpec
	Selector *metav1.LabelSelector
	// Pods is how many pods a change of the template restarts.
	Pods int32
	// Missing is how many pods there should be and are not.
	Missing int32
	// Refers names the workload that has the pod template instead; nil for none.
	Refers *Reference
	// Unread is what of it does not fit its type.
	Unread Unread
	// Claims are the names of the volumes that are no volumes of the template.
	Claims []string
	// Paused reports whether the workload is not to be written, Observed whether the
	// controller has seen the newest generation.
	Paused, Observed bool
	// Rollout is the state of the rollout. RolledOut is when it finished: zero while it
	// goes on, or if the workload does not say.
	Rollout   Rollout
	RolledOut time.Time
	Progress
	// Refusal says what the API server rejects that the controller needs, "" for nothing.
	Refusal string
	// History is the workload's revisionHistoryLimit, unsetHistory if it has none.
	History int32
	// Remark is something about the workload that a person should know of a sidecar in it,
	// "" for nothing.
	Remark string
}

// Reference names another workload of the namespace.
type Reference struct {
	Kind, Name string
	// Seen is the generation of it that the controller has seen.
	Seen int64
}

// String returns it as in messages.
func (r *Reference) String() string { return r.Kind + " " + r.Name }

// Progress is how far a rollout is.
type Progress struct {
	// Done counts the pods that have the newest template, and those of them that are
	// available: it grows while the rollout goes on.
	Done int32
	// Evidence is how many pods with the newest template are available, as far as the status is certain. Of a CronJob
	// it is 1 if its newest run has the template and has succeeded.
	Evidence int32
	// Missed tells apart the times at which the controller found that the progress deadline had passed; 0 if
	// the status does not say so.
	Missed uint32
	// Old is how many pods have another template than the newest, and Held why nobody
	// replaces them, for messages; "" unless the rollout is PodsNotReplaced.
	Old  int32
	Held string
	// Newest identifies the newest template that the controller knows, 0 for kinds whose
	// status says when a rollout finished.
	Newest uint64
	// Idle explains why the workload starts no pod with another template by itself, "" if it does.
	Idle string
	// FailureCause explains why the rollout has failed, "" if a deadline has passed.
	FailureCause string
	// Advice is what a person has to do if the rollout fails, "" if nothing in particular.
	Advice string
	// IsByRuns reports whether pods run the template and end, so that evidence outlasts them.
	IsByRuns bool
	// MayGoOn reports whether pods are missing and the status does not say since when: since
	// the rollout, which then goes on, or since later.
	MayGoOn bool
	// IsHeldByWrite reports whether PodsNotReplaced follows from the time of the operator's last write alone, which may have
	// changed annotations only.
	IsHeldByWrite bool
	// IsDown reports whether too few pods are available for the workload to do its work: what a rolling
	// update keeps available is not there.
	IsDown bool
	// IsBetween reports whether the workload is between two templates by steps of its own,
	// which another template would begin anew.
	IsBetween bool
}

// Rollout is the state of a workload's rollout.
type Rollout string

const (
	// RolloutComplete means that all pods run the current template and are available.
	RolloutComplete Rollout = "Complete"
	// RolloutProgressing means that pods are being replaced, or are not up yet.
	RolloutProgressing Rollout = "Progressing"
	// RolloutUnavailable means that the rollout has finished, but pods are not
	// available, not yet or no longer.
	RolloutUnavailable Rollout = "Unavailable"
	// PodsNotReplaced means that the workload has the template, that its own settings keep
	// pods with an older one, and that all others are available.
	PodsNotReplaced Rollout = "Held"
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)
