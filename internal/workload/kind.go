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

// Object is a workload of one of the Kinds, as the API server has it.
type Object interface {
	metav1.Object
	runtime.Object
}

// List is a list of workloads of one of the Kinds.
type List interface {
	metav1.ListInterface
	runtime.Object
}

// Kind is all that the product knows of one kind of workloads and not of the others. The
// pod template is at spec.template, and under server-side apply the lists of its pod merge
// by key: what is applied takes nothing from other owners.
type Kind struct {
	schema.GroupVersionKind
	// Plural names several in messages, Resource in URLs and rules.
	Plural, Resource string
	// Short are further names by which kubectl finds it, in lower case.
	Short []string
	// Annotations is the prefix of those that its controller writes on the workload.
	Annotations string
	// Revisions is what holds a revision of the pod template and controls its pods, and
	// Revision the annotation by which a workload and its newest one are told.
	Revisions schema.GroupVersionKind
	Revision  string

	// New and NewList return empty ones.
	New     func() Object
	NewList func() List
	// finish gives a workload the status of one that has rolled out, if it has none.
	finish func(Object)
	// read returns false for an object of another kind.
	read func(any) (Content, bool)
}

// ListKind is the kind of a list.
func (k *Kind) ListKind() schema.GroupVersionKind {
	return k.GroupVersion().WithKind(k.Kind + "List")
}

// Content is what a workload of any kind has.
type Content struct {
	Kind *Kind
	// Template and Selector are the workload's own, not copies.
	Template *corev1.PodTemplateSpec
	Selector *metav1.LabelSelector
	// Pods is how many a change of the template restarts.
	Pods int32
	// Paused reports whether a change of the template starts no rollout, and Observed
	// whether the controller has seen the newest generation.
	Paused, Observed bool
	// Rollout is how far the workload's rollout is, and RolledOut when it finished: zero
	// while it goes on, or if the workload does not say.
	Rollout   Rollout
	RolledOut time.Time
	// Refusal is what the API server says if it refuses to make the pods, else "".
	Refusal string
}

// Rollout is the state of a workload's rollout.
type Rollout string

const (
	// RolloutComplete means that every wanted pod runs the current template and is
	// available.
	RolloutComplete Rollout = "Complete"
	// RolloutProgressing means that pods are being replaced, or are not up yet.
	RolloutProgressing Rollout = "Progressing"
	// RolloutUnavailable means that the rollout has finished, and pods are not
	// available any more or not yet again.
	RolloutUnavailable Rollout = "Unavailable"
	// RolloutFailed means that the progress deadline has passed.
	RolloutFailed Rollout = "Failed"
)
