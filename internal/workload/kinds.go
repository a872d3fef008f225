// SPDX-FileCopyrightText: 2026 The Vector Sidecar Operator Authors
// SPDX-License-Identifier: Apache-2.0

package workload

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"kontroloop.ai/vector-sidecar-operator/api/v1alpha1"
)

// kinds lists the kinds of workloads that can have sidecars. To add a kind, add it here, add a file like
// deployment.go, and add a value of v1alpha1.WorkloadKind.
var kinds = []*Kind{&deployments, &statefulSets, &daemonSets, &cronJobs, &jobs, &argoRollouts}

// Kinds returns the kinds of workloads that can have sidecars.
func Kinds() []*Kind { return kinds }

// Ref identifies one workload. The UID distinguishes the workload from a later workload with the same name.
type Ref struct {
	Kind, Namespace, Name string
	UID                   types.UID
}

// Read returns the content of a workload. It returns false for objects that are not workloads.
func Read(object any) (Content, bool) {
	for _, kind := range kinds {
		if content, ok := kind.read(object); ok {
			content.Kind = kind
			return content, true
		}
	}
	return Content{}, false
}

// objectKind returns the kind of a workload, or nil for other objects. It does not decode the object if it is
// unstructured.
func objectKind(object any) *Kind {
	if isUnstructured(object, argoRolloutKind) {
		return &argoRollouts
	}
	content, _ := Read(object)
	return content.Kind
}

// readContent returns the content of a workload. It panics for other objects.
func readContent(object Object) Content {
	content, ok := Read(object)
	if !ok {
		panic(fmt.Sprintf("%T is not a workload", object))
	}
	return content
}

// ToObject converts a workload to an Object. It returns false if the argument is not a workload.
func ToObject(object any) (Object, bool) {
	if objectKind(object) == nil {
		return nil, false
	}
	workload, ok := object.(Object)
	return workload, ok
}

// PodTemplate returns the pod template of a workload, which shares the workload's memory.
func PodTemplate(object Object) *corev1.PodTemplateSpec { return readContent(object).Template }

// HasOptionalAPI reports whether a cluster may lack the API of a workload's kind.
func HasOptionalAPI(object Object) bool { return objectKind(object).Traits.OptionalAPI }

// NewRef returns the identity of a workload.
func NewRef(object Object) Ref {
	return Ref{Kind: objectKind(object).Kind, Namespace: object.GetNamespace(), Name: object.GetName(), UID: object.GetUID()}
}

// SetFinishedStatus sets the status of a finished rollout on a workload from a file, because a workload in a file usually
// has no status.
func SetFinishedStatus(object Object) { objectKind(object).finish(object) }

// KindNamed returns the kind with a name that kubectl accepts, such as deploy or deployments.apps. It returns
// nil for other names.
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

// Default returns the kind that is used if a user names no kind.
func Default() *Kind { return kinds[0] }

// Singular returns the name for one workload of the given kinds in messages: the kind if there is only one, and
// "workload" otherwise.
func Singular(kinds ...v1alpha1.WorkloadKind) string {
	if len(kinds) == 1 {
		return string(kinds[0])
	}
	return "workload"
}

// Plural returns the name for several workloads of the given kinds in messages.
func Plural(kinds ...v1alpha1.WorkloadKind) string { return Singular(kinds...) + "s" }

// KindByName returns the kind with a name that manifests use, such as Deployment, or nil for other names.
func KindByName(name string) *Kind {
	for _, kind := range kinds {
		if kind.Kind == name {
			return kind
		}
	}
	return nil
}

// KindForList returns the kind of the items in a list, or nil if the items are not workloads.
func KindForList(list runtime.Object) *Kind {
	for _, kind := range kinds {
		empty := kind.NewList()
		if reflect.TypeOf(empty) != reflect.TypeOf(list) {
			continue
		}
		if _, isUnstructured := empty.(runtime.Unstructured); !isUnstructured || empty.GetObjectKind().GroupVersionKind() == list.GetObjectKind().GroupVersionKind() {
			return kind
		}
	}
	return nil
}

// Adapter returns the Kind of the workload, or the default kind if the kind is unknown.
func (r *Ref) Adapter() *Kind { return cmp.Or(KindByName(r.Kind), Default()) }

// Items returns the workloads in a list, which share the memory of the list.
func Items(list List) []Object {
	var items []Object
	_ = apimeta.EachListItem(list, func(item runtime.Object) error { // EachListItem fails only if the function fails.
		if object, ok := ToObject(item); ok {
			items = append(items, object)
		}
		return nil
	})
	return items
}
