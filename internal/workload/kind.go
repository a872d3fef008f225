// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"time"

	corev1 "k8s.io/api/core/v1"
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

// Kind is everything specific to one kind of workload. The pod template is at
// spec.template, and server-side apply merges the lists of its pod by key: applying
// takes nothing from other owners.
type Kind struct {
	schema.GroupVersionKind
	// Plural is for messages, Resource for URLs and RBAC rules.
	Plural, Resource string
	// Short are kubectl's short names, in lower case.
	Short []string
	// Annotations is the prefix of the annotations that its controller writes on the
	// workload.
	Annotations string
	// Revisions is the kind that holds a revision of the pod template and controls its
	// pods; Revision is the annotation that links a workload to its newest one.
	Revisions schema.GroupVersionKind
	Revision  string

	// New and NewList return empty ones.
	New     func() Object
	NewList func() List
	// finish sets the status of a finished rollout if the workload has no status.
	finish func(Object)
	// read returns false for an object of another kind.
	read func(any) (Content, bool)
}

// ListKind is the kind of a list.
func (k *Kind) ListKind() schema.GroupVersionKind {
	return k.GroupVersion().WithKind(k.Kind + "List")
}

// Content is what workloads of all kinds have in common.
type Content struct {
	Kind *Kind
	// Template and Selector are the workload's own, not copies.
	Template *corev1.PodTemplateSpec
	Selector *metav1.LabelSelector
	// Pods is how many pods a change of the template restarts.
	Pods int32
	// Paused reports whether template changes start no rollout, Observed whether the
	// controller has seen the newest generation.
	Paused, Observed bool
	// Rollout is the state of the rollout. RolledOut is when it finished: zero while it
	// goes on, or if the workload does not say.
	Rollout   Rollout
	RolledOut time.Time
	// Refusal is the API server's message if it refuses to create the pods, else "".
	Refusal string
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
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)
