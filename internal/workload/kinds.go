// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// kinds are the kinds of workloads that get sidecars. To add one is a row here and a file
// beside deployment.go.
var kinds = []*Kind{&deployments}

// Kinds are the kinds of workloads that get sidecars.
func Kinds() []*Kind { return kinds }

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

// Read returns the content of a workload, and false for an object of none of the Kinds.
func Read(object any) (Content, bool) {
	for _, kind := range kinds {
		if content, isOne := kind.read(object); isOne {
			content.Kind = kind
			return content, true
		}
	}
	return Content{}, false
}

// contentOf is Read for those who have a workload.
func contentOf(object Object) Content {
	content, isOne := Read(object)
	if !isOne {
		panic(fmt.Sprintf("a %T is no workload", object))
	}
	return content
}

// As returns an object as a workload, and false if it is of none of the Kinds.
func As(object any) (Object, bool) {
	if _, isOne := Read(object); !isOne {
		return nil, false
	}
	workload, isOne := object.(Object)
	return workload, isOne
}

// TemplateOf returns the pod template of a workload, not a copy.
func TemplateOf(object Object) *corev1.PodTemplateSpec { return contentOf(object).Template }

// RefOf returns the name of a workload.
func RefOf(object Object) Ref {
	return Ref{Kind: contentOf(object).Kind.Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
}

// Finish gives a workload of a file the status of one that has rolled out: nothing says
// that it is at it.
func Finish(object Object) { contentOf(object).Kind.finish(object) }

// KindNamed returns the kind of a name as kubectl takes it, such as deploy or
// deployments.apps, and nil for none.
func KindNamed(name string) *Kind {
	name = strings.ToLower(name)
	for _, kind := range kinds {
		bare := strings.TrimSuffix(name, "."+kind.Group)
		if bare == strings.ToLower(kind.Kind) || bare == kind.Resource || slices.Contains(kind.Short, name) {
			return kind
		}
	}
	return nil
}

// Default returns the kind of workloads that is meant where none is named.
func Default() *Kind { return kinds[0] }

// Singular names a workload of one of the Kinds in messages.
func Singular() string {
	if len(kinds) > 1 {
		return "workload"
	}
	return kinds[0].Kind
}

// Plural names workloads of the Kinds in messages.
func Plural() string {
	if len(kinds) > 1 {
		return "workloads"
	}
	return kinds[0].Plural
}

// KindOf returns the kind of a name as manifests have it, and nil for none.
func KindOf(name string) *Kind {
	for _, kind := range kinds {
		if kind.Kind == name {
			return kind
		}
	}
	return nil
}

// KindOfList returns the kind that a list is of, and nil for none.
func KindOfList(list any) *Kind {
	for _, kind := range kinds {
		if reflect.TypeOf(kind.NewList()) == reflect.TypeOf(list) {
			return kind
		}
	}
	return nil
}

// Adapter returns the kind of the workload that is named.
func (r *Ref) Adapter() *Kind { return cmp.Or(KindOf(r.Kind), Default()) }

// Items returns the workloads of a list, not copies.
func Items(list List) []Object {
	var items []Object
	_ = apimeta.EachListItem(list, func(item runtime.Object) error { // It fails where the function does.
		if object, isOne := As(item); isOne {
			items = append(items, object)
		}
		return nil
	})
	return items
}
